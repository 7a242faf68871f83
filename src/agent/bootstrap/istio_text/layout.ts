/** Layouts describe how JSON data is printed: line breaks, separators and member order. */
import type { Value } from "../../../base/value.ts";
import { goJson } from "../../../golang/go_json.ts";

/** Format of a printed value. By default, values are printed with `JSON.stringify(value, null, 2)`. */
export interface Layout {
  readonly line?: (value: Value) => string;
  /** Separator between this member's name and its value; default `": "`. */
  readonly colon?: string;
  /** Print a whitespace-only line after the value and its comma, with this many spaces less than the current line. */
  readonly gap?: number;
  /** Indentation of the members or items, in spaces; default 2. */
  readonly indent?: number;
  /** Number of spaces by which to reduce the indentation of the closing bracket. */
  readonly outdent?: number;
  /** Print the only member or item on the same line as the brackets. */
  readonly isTight?: boolean;
  /** Print the brackets on two lines, even if the value is empty. */
  readonly isOpen?: boolean;
  /**
   * `own line`: each comma is on its own line. `behind all`: a comma also follows the last member or item, which is not
   * valid JSON.
   */
  readonly commas?: "own line" | "behind all";
  readonly order?: readonly string[];
  readonly members?: Readonly<Record<string, LayoutOf>>;
  readonly items?: LayoutOf;
  /** Optional members at the end, or optional items, identified by their `name`. */
  readonly places?: readonly Place[];
}

export type LayoutOf = Layout | ((value: Value, index: number, count: number) => Layout);

export interface Place {
  readonly name: string;
  /** Print a whitespace-only line before the part, even if the part is absent. */
  readonly isGapBefore: boolean;
  /**
   * The comma before the part. `own line`: on its own line. `with gaps`: only after another part, between
   * whitespace-only lines.
   */
  readonly comma: "none" | "own line" | "with gaps";
}

/**
 * Adds layouts for inner values to `own`. The keys of `inner` are paths: member names, or `[]` for list items, joined
 * with `/`. A layout that is a function is used as it is, without inner layouts.
 */
export function withInner(inner: Readonly<Record<string, LayoutOf>>, own: Layout = {}): Layout {
  const byName = Map.groupBy(Object.entries(inner), ([path]) => path.split("/", 1)[0] ?? "");
  const entries = [...byName].map(([name, group]): [string, LayoutOf] => {
    const further = group.filter(([path]) => path !== name).map(([path, each]) => [path.slice(name.length + 1), each]);
    const itself = inner[name] ?? {};
    return [name, typeof itself === "function" ? itself : withInner(Object.fromEntries(further), itself)];
  });
  const { "[]": items, ...members } = Object.fromEntries(entries);
  return { ...own, members, ...(items === undefined ? {} : { items }) };
}

export const GO_MAP: Layout = { line: (value) => goJson(value) };

export const COMPACT: Layout = { line: (value) => JSON.stringify(value) };

/** Prints a value on one line; `ONE_WIDE_LINE` also puts spaces inside the braces. */
export const ONE_LINE: Layout = { line: oneLine };
export const ONE_WIDE_LINE: Layout = { line: (value) => oneLine(value).replace(/^\{(.*)\}$/, "{ $1 }") };

function oneLine(value: Value): string {
  return JSON.stringify(value, null, 1).replaceAll(/,\n */g, ", ").replaceAll(/\n */g, "");
}

/** Prints a string with the escapes of Go's template function `js`. Its escaped apostrophe is not valid JSON. */
export const GO_JS: Layout = {
  line: (value) =>
    JSON.stringify(value).replaceAll(/[<>&=]/g, (each) => `\\u00${each.charCodeAt(0).toString(16).toUpperCase()}`)
      .replaceAll("'", "\\'"),
};
