import type { Value } from "../../base/value.ts";
import { numberText } from "../read/number_text.ts";
import { isAmbiguous } from "../read/resolve.ts";

/** The form of a string on one line: without quotes, in single quotes, or in double quotes with escapes. */
type Form = "plain" | "single" | "double";

/** Maximum length of a key without a `? ` before it. Readers accept up to 1024 bytes, including escapes. */
export const MAX_SIMPLE_KEY = 900;

/** Texts that other YAML 1.1 readers read as base-60 numbers, dates or special types; go-yaml quotes most of them. */
const QUOTED_FOR_OTHERS = /^(?:\d{4}-\d\d?-\d\d?.*|=|<<|[-+]?0[oOxXbB].*|[-+]?\.?[0-9][0-9_.,eE+-]*)$/;
/** Numbers in base 60; the range of each part is not checked. */
const BASE_60 = /^[-+]?[0-9][0-9_]*:[0-9:]+(?:\.[0-9_]*)?$/;
const NO_BASE_60_PART = /:(?![0-5]?[0-9](?:[:.]|$))/;
/** Text that a plain scalar must not contain, start with or end with, in block and flow collections. */
const NOT_PLAIN = /^[-?:](?:\s|$)|^(?:---|\.\.\.)|^[#,[\]{}&*!|>'"%@`\s]|:(?:\s|$)|\s#|\s$|^$/;
/** Text that is also unsafe in flow collections. Program flags (`--level=info`) are safe. */
const FLOW_INDICATOR = /[,[\]{}]|^[?:]|^-(?!-[A-Za-z_/$][\w/$.=+():-]*$)/;
/**
 * Tabs, control characters, line separators, byte order marks and lone surrogates, which readers keep only if escaped.
 */
// deno-lint-ignore no-control-regex
const NEEDS_ESCAPE = /[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]/u;

/** A scalar on one line, written so that kubectl and other YAML 1.1 readers read the same value back. */
export function scalarText(value: Exclude<Value, object> | null, flow = false): string {
  if (typeof value === "string") return stringText(value, flow);
  return typeof value === "number" || typeof value === "bigint" ? numberText(value) : String(value);
}

/**
 * A string on one line, plain if that is safe. Otherwise it is quoted as in go-yaml: ambiguous text in double quotes,
 * unsafe text in single quotes.
 */
export function stringText(value: string, flow = false): string {
  return write(value, formOf(value, flow));
}

/** A string in the given quotes. Uses double quotes if the string needs escapes. */
export function requoted(value: string, quotes: "single" | "double"): string {
  return write(value, quotes === "single" && NEEDS_ESCAPE.test(value) ? "double" : quotes);
}

/** A string in double quotes, in a form that is valid in JSON and YAML. */
export function doubleQuoted(value: string): string {
  return JSON.stringify(value.toWellFormed()).replace(/[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g, escape);
}

/** Whether a string needs escapes. Line breaks other than `\n` also need escapes. */
export function needsEscape(value: string): boolean {
  return NEEDS_ESCAPE.test(value.replaceAll("\n", "").replaceAll("\t", ""));
}

function formOf(value: string, flow: boolean): Form {
  if (NEEDS_ESCAPE.test(value)) return "double";
  if (isAmbiguous(value) || QUOTED_FOR_OTHERS.test(value) || isBase60(value)) return "double";
  if (NOT_PLAIN.test(value)) return "single";
  return flow && FLOW_INDICATOR.test(value) ? "single" : "plain";
}

function isBase60(value: string): boolean {
  return BASE_60.test(value) && !NO_BASE_60_PART.test(value);
}

function write(value: string, form: Form): string {
  if (form === "plain") return value;
  return form === "single" ? `'${value.replaceAll("'", "''")}'` : doubleQuoted(value);
}

function escape(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
