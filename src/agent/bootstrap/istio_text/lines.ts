/** Values on one line. */
import { goJson } from "../../../core/gojson.ts";
import type { Value } from "../../../core/value.ts";
import type { Layout } from "./layout.ts";

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
