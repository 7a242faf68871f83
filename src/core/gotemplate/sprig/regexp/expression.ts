/** A compiled expression of Go: JavaScript's engine where that is right and fast, ours where it is not. */
import { isForBacktracking } from "./cost.ts";
import { compileProgram, type Program } from "./program.ts";
import { sourceOf } from "./source.ts";
import { parseExpression } from "./syntax.ts";
import { type Places, runProgram } from "./threads.ts";
import type { Node } from "./tree.ts";

/** A match: where, the text, and the texts of the groups (index 0 is group 1). */
export interface Match {
  readonly index: number;
  readonly text: string;
  readonly groups: readonly (string | undefined)[];
}

/** Finds the first match from an index on. */
export type Find = (subject: string, at: number) => Match | undefined;

/** An expression ready to be used. */
export class Expression {
  readonly names: readonly string[];
  readonly #tree: Node;
  readonly #backtracking: Find;
  readonly #linear: Find;
  /** The length that was asked for last, and whether JavaScript's engine may run on it. */
  #decided: readonly [length: number, backtracking: boolean] | undefined;

  /** Errors: with the text of Go's `regexp/syntax.Error`. */
  constructor(readonly pattern: string) {
    const { tree, names } = parseExpression(pattern);
    this.names = names;
    this.#tree = tree;
    this.#backtracking = backtrackingFind(tree);
    this.#linear = linearFind(tree, names.length);
  }

  /** The first match from `at` on. */
  find(subject: string, at: number): Match | undefined {
    return this.#isForBacktracking(subject.length) ? this.#backtracking(subject, at) : this.#linear(subject, at);
  }

  #isForBacktracking(length: number): boolean {
    if (this.#decided?.[0] !== length) this.#decided = [length, isForBacktracking(this.#tree, length)];
    return this.#decided?.[1] ?? false;
  }
}

/** The way through our engine. */
export function linearFind(tree: Node, groups: number): Find {
  let program: Program | undefined;
  return (subject, at) => {
    program ??= compileProgram(tree, groups);
    const places = runProgram(program, subject, at);
    return places === undefined ? undefined : matchAt(subject, places);
  };
}

function matchAt(subject: string, places: Places): Match {
  const [start = 0, end = 0] = places;
  const groups: (string | undefined)[] = [];
  for (let slot = 2; slot < places.length; slot += 2) {
    const [from = -1, to = -1] = places.slice(slot, slot + 2);
    groups.push(to < 0 ? undefined : subject.slice(from, to));
  }
  return { index: start, text: subject.slice(start, end), groups };
}

/** The way through JavaScript's engine. It may see an empty match between the halves of a character: that is none. */
export function backtrackingFind(tree: Node): Find {
  let matcher: RegExp | undefined;
  return (subject, at) => {
    matcher ??= new RegExp(sourceOf(tree), "gu");
    matcher.lastIndex = at;
    let match = matcher.exec(subject);
    while (match !== null && isInsideCharacter(subject, match.index)) {
      matcher.lastIndex = match.index + 1;
      match = matcher.exec(subject);
    }
    if (match === null) return undefined;
    const [text, ...groups] = match;
    return { index: match.index, text, groups };
  };
}

function isInsideCharacter(subject: string, index: number): boolean {
  return index > 0 && (subject.codePointAt(index - 1) ?? 0) > 0xffff;
}
