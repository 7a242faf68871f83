/** Layouts of JSON data: where lines end, what stands between the parts, and in which order they are. */
import type { Value } from "../../../core/value.ts";
import { goJson } from "../../../core/gojson.ts";

/** How a value stands in a text. What is not said is as in `JSON.stringify(value, null, 2)`. */
export interface Layout {
  /** The value on one line. */
  readonly line?: (value: Value) => string;
  /** Between the name of this member and its value. */
  readonly colon?: string;
  /** A line of blanks is behind it and its comma, so many less than in its own line. */
  readonly gap?: number;
  /** How much further in its parts are than the line that it begins on. */
  readonly indent?: number;
  /** How much further out the line is that it ends on. */
  readonly outdent?: number;
  /** Its only part is on the lines of its brackets. */
  readonly isTight?: boolean;
  /** Its brackets are on two lines, even with nothing between them. */
  readonly isOpen?: boolean;
  /** Commas are on lines of their own; or one is behind the last part too, which is no JSON. */
  readonly commas?: "own line" | "behind all";
  /** The members that come first. */
  readonly order?: readonly string[];
  readonly members?: Readonly<Record<string, LayoutOf>>;
  readonly items?: LayoutOf;
  /** Places behind the other parts, of members, or of items by their `name`, that need not be there. */
  readonly places?: readonly Place[];
}

/** A layout, or the one that a value at this place, of so many, asks for. */
export type LayoutOf = Layout | ((value: Value, index: number, count: number) => Layout);

/** The place of a part that need not be there. */
export interface Place {
  readonly name: string;
  /** A line of blanks is before it, with or without the part. */
  readonly isGapBefore: boolean;
  /**
   * The comma before it, on a line of its own. `with gaps`: only behind another part, with a line of blanks behind it, and
   * one more that is there without a part too.
   */
  readonly comma: "none" | "own line" | "with gaps";
}

/**
 * The layout `own` with others inside of it, by their paths: names of members, `[]` for the items of a list. What is inside
 * of one that its value asks for, that one says.
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

/** As Go writes a map. */
export const GO_MAP: Layout = { line: (value) => goJson(value) };

/** As Go writes structs, whose members have an order. */
export const COMPACT: Layout = { line: (value) => JSON.stringify(value) };

/** With a blank behind colons and commas; and inside of the outer brackets too. */
export const ONE_LINE: Layout = { line: oneLine };
export const ONE_WIDE_LINE: Layout = { line: (value) => oneLine(value).replace(/^\{(.*)\}$/, "{ $1 }") };

function oneLine(value: Value): string {
  return JSON.stringify(value, null, 1).replaceAll(/,\n */g, ", ").replaceAll(/\n */g, "");
}

/** A text with the escapes of Go's `js`; JSON does not know that of an apostrophe. */
export const GO_JS: Layout = {
  line: (value) => JSON.stringify(value).replaceAll(/[<>&=]/g, (each) => `\\u00${hex(each)}`).replaceAll("'", "\\'"),
};

function hex(character: string): string {
  return character.charCodeAt(0).toString(16).toUpperCase();
}
