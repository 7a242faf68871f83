/** Layouts: line breaks, separators and member order of JSON data, as tables. */
import type { Value } from "../../../base/value.ts";
import { goJson } from "../../../golang/gojson/mod.ts";

/** How to print a value. The default is `JSON.stringify(value, null, 2)`. */
export interface Layout {
  readonly line?: (value: Value) => string;
  /** Separator between this member's name and its value; default `": "`. */
  readonly colon?: string;
  /** Print a whitespace-only line after it and its comma, indented this much less. */
  readonly gap?: number;
  /** Indentation of its parts; default 2. */
  readonly indent?: number;
  /** How much less the closing bracket is indented. */
  readonly outdent?: number;
  /** Its only part shares the lines of its brackets. */
  readonly isTight?: boolean;
  /** Brackets on two lines, even if empty. */
  readonly isOpen?: boolean;
  /** Commas on their own lines; or also a comma after the last part, which is not JSON. */
  readonly commas?: "own line" | "behind all";
  readonly order?: readonly string[];
  readonly members?: Readonly<Record<string, LayoutOf>>;
  readonly items?: LayoutOf;
  /** Optional parts at the end: members, or items by `name`. */
  readonly places?: readonly Place[];
}

export type LayoutOf = Layout | ((value: Value, index: number, count: number) => Layout);

export interface Place {
  readonly name: string;
  /** Print a whitespace-only line before it, also if the part is absent. */
  readonly isGapBefore: boolean;
  /**
   * The comma before it, on its own line. `with gaps`: only after another part, and whitespace-only lines around it.
   */
  readonly comma: "none" | "own line" | "with gaps";
}

/**
 * Adds layouts of inner values to `own`, by path: member names, `[]` for list items. A function layout decides alone.
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

/** One line; `ONE_WIDE_LINE` has spaces inside its braces too. */
export const ONE_LINE: Layout = { line: oneLine };
export const ONE_WIDE_LINE: Layout = { line: (value) => oneLine(value).replace(/^\{(.*)\}$/, "{ $1 }") };

function oneLine(value: Value): string {
  return JSON.stringify(value, null, 1).replaceAll(/,\n */g, ", ").replaceAll(/\n */g, "");
}

/** A string with the escapes of Go's `js` function; JSON has no escape for an apostrophe. */
export const GO_JS: Layout = {
  line: (value) =>
    JSON.stringify(value).replaceAll(/[<>&=]/g, (each) => `\\u00${each.charCodeAt(0).toString(16).toUpperCase()}`)
      .replaceAll("'", "\\'"),
};
