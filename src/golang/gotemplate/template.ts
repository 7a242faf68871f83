import { rejoin } from "../go_bytes.ts";
import { builtins } from "./exec/builtins.ts";
import { defaultLimits, type Limits, type Source, State } from "./exec/state.ts";
import type { Environment, Watch } from "./exec/expression_compiler.ts";
import { type Bodies, type Body, newBody, runBody } from "./exec/statement_compiler.ts";
import type { Statement } from "./parse/ast.ts";
import { parseTrees } from "./parse/parser.ts";
import type { Effect, FuncMap, GoValue } from "../go_value.ts";

/** Options of `parse`. */
export interface ParseOptions {
  /** Functions in addition to the builtin functions. A function overrides the builtin function with the same name. */
  readonly funcs?: FuncMap;
  /** `{{` and `}}` if absent or empty. */
  readonly leftDelim?: string;
  readonly rightDelim?: string;
}

/** A parsed template, which may be rendered any number of times. */
export class Template {
  readonly #bodies: Bodies;

  constructor(
    readonly source: Source,
    readonly trees: Trees,
    readonly environment: Environment,
    /** The effects of the functions in the text. */
    readonly effects: ReadonlySet<Effect>,
  ) {
    this.#bodies = bodiesOf(trees, environment);
  }

  get name(): string {
    return this.source.name;
  }

  /** Returns a copy of the template. Its renderings call `watch` after each function call. */
  watched(watch: Watch): Template {
    return new Template(this.source, this.trees, { ...this.environment, watch }, this.effects);
  }

  /**
   * Renders the template with this data. Throws a TemplateError with the text and position of Go's error. Limits that
   * are not given come from `defaultLimits`.
   */
  render(data: GoValue, options: { readonly limits?: Partial<Limits> } = {}): string {
    const state = new State(this.source, this.name, { ...defaultLimits, ...options.limits });
    const body = this.#bodies.get(this.name);
    try {
      if (body !== undefined) runBody(state, body, data === null ? undefined : data);
    } catch (thrown) {
      throw state.wrap(thrown);
    }
    return rejoin(state.out);
  }
}

/**
 * Parses a template text as Go 1.26's text/template does. `name` is the template's name in errors. Throws a
 * TemplateError with Go's text and the line.
 */
export function parse(name: string, text: string, options: ParseOptions = {}): Template {
  const functions = options.funcs ?? {};
  const effects = new Set<Effect>();
  const trees = parseTrees(name, text, {
    left: options.leftDelim || "{{",
    right: options.rightDelim || "}}",
    isFunction: (word) => {
      if (!Object.hasOwn(functions, word)) return builtins.has(word);
      effects.add(functions[word]?.effect ?? "none");
      return true;
    },
  });
  return new Template({ name, text }, trees, { functions }, effects);
}

/** The statements of each template in a text, by name. */
type Trees = ReadonlyMap<string, readonly Statement[]>;

function bodiesOf(trees: Trees, environment: Environment): Bodies {
  const bodies = new Map<string, Body>();
  for (const [key, list] of trees) bodies.set(key, newBody(key, list, environment, bodies));
  return bodies;
}
