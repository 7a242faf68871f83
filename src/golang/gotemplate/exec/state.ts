import { messageOf } from "../../../base/errors.ts";
import { isGoMap } from "../kind.ts";
import { lineAndColumn, TemplateError } from "../error.ts";
import type { Node } from "../parse/ast.ts";
import { nodeText } from "../parse/node_text.ts";
import type { GoValue } from "../../go_value.ts";

/**
 * A value while a template runs. `undefined` is a missing value, such as a missing key: printed `<no value>`, and its
 * fields are missing too. `null` is the nil value of a key: reading its fields is an error.
 */
export type Slot = GoValue | undefined;

/** Limits of one run, which stop endless templates. */
export interface Limits {
  /** Maximum output, in UTF-16 units. */
  readonly output: number;
  /** Maximum depth of nested template calls. */
  readonly depth: number;
  /** Maximum sum of `range` iterations and template calls. */
  readonly steps: number;
  /** Maximum total size of the texts, lists and maps that functions return, in bytes. */
  readonly made: number;
  /** Maximum total cost of slow functions, in tenths of a second. {@link SLOW} lists the costs. */
  readonly slow: number;
  /**
   * Returns whether the run exceeds its time limit. Called every {@link TIME_CHECK} steps. If absent, time is not
   * limited.
   */
  readonly isLate?: (() => boolean) | undefined;
}

/**
 * 16 Mi characters, 1,000 nested calls, 10 million steps, 64 MiB of results, three RSA keys or thirty password hashes.
 */
export const defaultLimits: Limits = { output: 16 << 20, depth: 1000, steps: 10_000_000, made: 64 << 20, slow: 30 };

/** The cost of slow functions, in tenths of a second. */
const SLOW: ReadonlyMap<string, number> = new Map([
  ...["genPrivateKey", "genCA", "genSelfSignedCert", "genSignedCert"].map((name) => [name, 10] as const),
  ...["bcrypt", "htpasswd", "derivePassword"].map((name) => [name, 1] as const),
]);

/** `genPrivateKey` is slow only for RSA. */
function isQuickKey(result: Slot): boolean {
  return typeof result === "string" && result.includes(" PRIVATE KEY") && !result.includes("RSA");
}

/** Number of steps or calls between two reads of the clock. */
const TIME_CHECK = 64;

/** Size of a reference in a list or map, in bytes. */
const ITEM = 8;

/** A function call, for error messages. */
export interface CallSite {
  readonly node: Node;
  readonly name: string;
}

/** A parsed template text, for positions in error messages. */
export interface Source {
  readonly name: string;
  readonly text: string;
}

/** One run of a template. */
export class State {
  out = "";
  depth = 0;
  steps = 0;
  made = 0;
  #calls = 0;
  #slow = 0;
  /** Sizes in bytes of the lists and maps that functions returned, including their contents. */
  readonly #sizes = new WeakMap<object, number>();
  /** The node under evaluation: errors show its text and position. */
  node: Node | undefined;
  /** The function called last. */
  call: CallSite | undefined;
  /** The error that ended the run, if the engine raised it. */
  failure: TemplateError | undefined;

  constructor(
    readonly source: Source,
    /** The name of the template that is executed. */
    public template: string,
    readonly limits: Limits,
  ) {}

  write(text: string): void {
    this.out += text;
    if (this.out.length > this.limits.output) throw this.fail(`output exceeds ${this.limits.output} characters`);
  }

  /** Counts an iteration or call. */
  step(): void {
    if (++this.steps > this.limits.steps) throw this.fail(`exceeded ${this.limits.steps} steps`);
    if (this.steps % TIME_CHECK === 0) this.#checkTime();
  }

  #checkTime(): void {
    if (this.limits.isLate?.() === true) throw this.fail("takes too long");
  }

  /** Counts a call of a slow function. */
  #countSlow(tenths: number): void {
    this.#slow += tenths;
    if (this.#slow > this.limits.slow) throw this.fail("calls too many slow functions");
    this.#checkTime();
  }

  /**
   * Counts the size of a function's result, so that a loop of `concat` or `printf` cannot exhaust memory. Returns the
   * result. A nested list that occurs twice is counted twice, because JSON prints it twice.
   */
  count(result: Slot): Slot {
    const slow = SLOW.get(this.call?.name ?? "");
    if (slow !== undefined && !isQuickKey(result)) this.#countSlow(slow);
    else if (++this.#calls % TIME_CHECK === 0) this.#checkTime();
    if (typeof result === "string") this.made += result.length;
    else if (Array.isArray(result)) this.#countItems(result, result);
    else if (isGoMap(result)) this.#countItems(result, Object.values(result));
    else return result;
    if (this.made > this.limits.made) throw new Error(`the results of functions exceed ${this.limits.made} bytes`);
    return result;
  }

  #countItems(made: object, items: readonly GoValue[]): void {
    let size = 0;
    for (const item of items) size += ITEM + this.#sizeOf(item);
    this.made += Math.max(0, size - (this.#sizes.get(made) ?? 0));
    this.#sizes.set(made, size);
  }

  #sizeOf(value: GoValue): number {
    if (typeof value === "string") return value.length;
    return typeof value === "object" && value !== null ? this.#sizes.get(value) ?? 0 : 0;
  }

  /** Returns an error with this message at the current node. */
  fail(message: string, cause?: unknown): TemplateError {
    const { name, text } = this.source;
    const node = this.node ?? { kind: "text", pos: 0, text: "" };
    const { line, column } = lineAndColumn(text, node.pos);
    const where = `template: ${name}:${line}:${column}: executing "${this.template}" at <${nodeText(node)}>`;
    return this.failure = new TemplateError(`${where}: ${message}`, { place: { line, column: column + 1 }, cause });
  }

  /** Converts a thrown value into the error to report. For an error of a function, the message names the function. */
  wrap(thrown: unknown): TemplateError {
    if (this.failure !== undefined && thrown === this.failure) return this.failure;
    if (thrown instanceof RangeError && /call stack/.test(thrown.message)) {
      return this.fail(`exceeded maximum template depth (${this.limits.depth})`, thrown);
    }
    const { call } = this;
    if (call === undefined) return this.fail(messageOf(thrown), thrown);
    this.node = call.node;
    return this.fail(`error calling ${call.name}: ${messageOf(thrown)}`, thrown);
  }
}

/**
 * A compiled expression. `final` is the value that the pipeline passes on from the previous command, `undefined` in the
 * first command.
 */
export type Eval = (state: State, dot: Slot, vars: Slot[], final: Slot) => Slot;

/** How a statement ended: `0` normally, `1` by break, `2` by continue. */
export type Signal = 0 | 1 | 2;

/** A compiled statement. */
export type Exec = (state: State, dot: Slot, vars: Slot[]) => Signal;
