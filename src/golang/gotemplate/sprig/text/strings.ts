/** sprig's functions on strings: case, trimming, cutting by bytes, quoting, splitting and joining. */
import { byteLength, sliceBytes } from "../../../go_bytes.ts";
import { quote } from "../../fmt/quote.ts";
import { compareUtf8 } from "../../../go_json.ts";
import { goTrim } from "../../../net/mod.ts";
import { isList } from "../../kind.ts";
import { type FuncMap, type GoValue, pure, typed } from "../../../go_value.ts";
import { ANY, INT, int, limitMade, STRING, text } from "../args.ts";
import { lower, lowerRune, title, titleRune, upper, upperRune } from "./letters.ts";
import { toBinary } from "./octets.ts";
import { sprint } from "../../fmt/print.ts";
import { pascalCase, separatedCase } from "./words.ts";
import { abbreviate, abbreviateBoth, wrapText } from "./wrap.ts";

/** Returns the functions of this file by name. */
export function stringFunctions(): FuncMap {
  return { ...caseFunctions(), ...trimFunctions(), ...cutFunctions(), ...testFunctions(), ...listFunctions() };
}

function caseFunctions(): FuncMap {
  return {
    upper: onText(upper),
    lower: onText(lower),
    title: onText(title),
    untitle: onText(untitle),
    swapcase: onText(swapCase),
    camelcase: onText(pascalCase),
    snakecase: onText((s) => separatedCase(s, "_")),
    kebabcase: onText((s) => separatedCase(s, "-")),
    initials: onText(initials),
    nospace: onText(withoutSpace),
  };
}

function trimFunctions(): FuncMap {
  const trimAll = pure([STRING, STRING], (cutset, s) => trimSet(text(s), text(cutset)));
  return {
    trim: onText(goTrim),
    trimAll,
    trimall: trimAll,
    trimPrefix: pure([STRING, STRING], (prefix, s) => trimPrefix(text(s), text(prefix))),
    trimSuffix: pure([STRING, STRING], (suffix, s) => trimSuffix(text(s), text(suffix))),
    indent: pure([INT, STRING], (spaces, s) => indent(int(spaces), text(s))),
    nindent: pure([INT, STRING], (spaces, s) => "\n" + indent(int(spaces), text(s))),
    wrap: pure([INT, STRING], (width, s) => wrapText(text(s), { width: int(width), newline: "", cutWords: false })),
    wrapWith: pure(
      [INT, STRING, STRING],
      (width, newline, s) => wrapText(text(s), { width: int(width), newline: text(newline), cutWords: true }),
    ),
  };
}

function cutFunctions(): FuncMap {
  return {
    abbrev: pure([INT, STRING], (width, s) => abbreviate(text(s), int(width))),
    abbrevboth: pure([INT, INT, STRING], (left, width, s) => abbreviateBoth(text(s), int(left), int(width))),
    trunc: pure([INT, STRING], (count, s) => truncate(int(count), text(s))),
    substr: pure([INT, INT, STRING], (start, end, s) => substring(int(start), int(end), text(s))),
    repeat: pure([INT, STRING], (count, s) => repeat(int(count), text(s))),
    replace: pure([STRING, STRING, STRING], (old, by, s) => replace(text(s), text(old), text(by))),
  };
}

function testFunctions(): FuncMap {
  return {
    contains: pure([STRING, STRING], (part, s) => text(s).includes(text(part))),
    hasPrefix: pure([STRING, STRING], (part, s) => text(s).startsWith(text(part))),
    hasSuffix: pure([STRING, STRING], (part, s) => text(s).endsWith(text(part))),
    plural: pure([STRING, STRING, INT], (one, many, count) => (int(count) === 1 ? one : many)),
    quote: pure([ANY], (...all) => withoutNil(all).map((v) => quote(sprint(v))).join(" "), true),
    squote: pure([ANY], (...all) => withoutNil(all).map((v) => `'${sprint(v)}'`).join(" "), true),
    cat: pure([ANY], (...all) => withoutNil(all).map(sprint).join(" "), true),
    toString: pure([ANY], (v) => sprint(v)),
  };
}

function listFunctions(): FuncMap {
  return {
    toStrings: pure([ANY], (v) => stringList(texts(v))),
    join: pure([STRING, ANY], (by, v) => joined(texts(v), text(by))),
    sortAlpha: pure([ANY], (v) => stringList(isList(v) ? texts(v).sort(compareUtf8) : [sprint(v)])),
    splitList: pure([STRING, STRING], (by, s) => stringList(split(text(s), text(by), -1))),
    split: pure([STRING, STRING], (by, s) => numbered(split(text(s), text(by), -1))),
    splitn: pure([STRING, INT, STRING], (by, count, s) => numbered(split(text(s), text(by), int(count)))),
  };
}

function onText(change: (text: string) => string) {
  return pure([STRING], (s) => change(text(s)));
}

/** A `[]string`. */
export function stringList(strings: readonly string[]): GoValue {
  return typed(strings, "[]string");
}

/** Converts the elements of a list to strings, without nil. Any other value becomes a single string. */
function texts(value: GoValue): string[] {
  if (value === null) return [];
  return isList(value) ? withoutNil(value).map(sprint) : [sprint(value)];
}

function withoutNil(values: readonly GoValue[]): GoValue[] {
  return values.filter((value) => value !== null);
}

/** `{_0: first, _1: second, ...}` as a map of strings. */
function numbered(parts: readonly string[]): GoValue {
  const map: Record<string, string> = Object.create(null);
  parts.forEach((part, index) => map[`_${index}`] = part);
  return typed(map, "map[string]string");
}

/** strings.ReplaceAll: an empty text matches before each character and at the end. */
function replace(s: string, old: string, by: string): string {
  limitMade(s.length + (old === "" ? s.length + 1 : count(s, old)) * by.length);
  if (old === "") return by + [...s].map((rune) => rune + by).join("");
  // A function is slower, but `$` is not special in its result, as it is in a replacement text.
  return by.includes("$") ? s.replaceAll(old, () => by) : s.replaceAll(old, by);
}

/** Number of occurrences of `part` in `s`. */
function count(s: string, part: string): number {
  let found = 0;
  for (let at = s.indexOf(part); at >= 0; at = s.indexOf(part, at + part.length)) found++;
  return found;
}

/** strings.SplitN: at most `count` parts; all parts if `count` is negative. */
function split(s: string, by: string, count: number): string[] {
  if (count === 0) return [];
  const parts = by === "" ? [...s] : s.split(by);
  if (count < 0 || parts.length <= count) return parts;
  return [...parts.slice(0, count - 1), parts.slice(count - 1).join(by)];
}

function trimSet(s: string, cutset: string): string {
  const set = new Set(cutset);
  const runes = [...s];
  let start = 0;
  let end = runes.length;
  while (start < end && set.has(runes[start] ?? "")) start++;
  while (end > start && set.has(runes[end - 1] ?? "")) end--;
  return runes.slice(start, end).join("");
}

function trimPrefix(s: string, prefix: string): string {
  return s.startsWith(prefix) ? s.slice(prefix.length) : s;
}

function trimSuffix(s: string, suffix: string): string {
  return s.endsWith(suffix) ? s.slice(0, s.length - suffix.length) : s;
}

function joined(parts: readonly string[], by: string): string {
  limitMade(parts.reduce((length, part) => length + part.length + by.length, 0));
  return parts.join(by);
}

function indent(spaces: number, s: string): string {
  const pad = repeat(spaces, " ");
  limitMade(s.length + (count(s, "\n") + 1) * pad.length);
  return pad + s.replaceAll("\n", "\n" + pad);
}

function repeat(count: number, s: string): string {
  if (count < 0) throw new Error("strings: negative Repeat count");
  limitMade(count * s.length);
  return s.repeat(count);
}

/** The first `count` bytes, or the last `-count` bytes if `count` is negative. */
function truncate(count: number, s: string): string {
  const length = byteLength(s);
  if (count < 0) return length + count > 0 ? sliceBytes(s, length + count, length) : s;
  return length > count ? sliceBytes(s, 0, count) : s;
}

/**
 * The bytes from `start` up to, but not including, `end`. A negative start means 0; a negative or too large end means
 * the length.
 */
function substring(start: number, end: number, s: string): string {
  const length = byteLength(s);
  if (start < 0) return cut(s, 0, end, length);
  return cut(s, start, end < 0 || end > length ? length : end, length);
}

function cut(s: string, start: number, end: number, length: number): string {
  if (end < 0 || end > length) throw new Error(outOfRange(end < 0 ? `[:${end}]` : `[:${end}] with length ${length}`));
  if (start > end) throw new Error(outOfRange(`[${start}:${end}]`));
  return sliceBytes(s, start, end);
}

function outOfRange(slice: string): string {
  return `runtime error: slice bounds out of range ${slice}`;
}

/** Changes the first letter of each word to lower case. */
function untitle(s: string): string {
  return s.replace(/(?<=^|\p{White_Space})\P{White_Space}/gu, lowerRune);
}

/** Swaps upper and lower case. A lower-case letter at the start of a word becomes title case. */
function swapCase(s: string): string {
  return s.replace(/([\p{Lu}\p{Lt}])|(?<=^|\p{White_Space})(\p{Ll})|\p{Ll}/gu, (rune, high, first) => {
    return high !== undefined ? lowerRune(rune) : first !== undefined ? titleRune(rune) : upperRune(rune);
  });
}

/** The first byte of each word. As in sprig, bytes are read as characters, which changes letters beyond ASCII. */
function initials(s: string): string {
  return (toBinary(s).match(/(?<=^|\p{White_Space})\P{White_Space}/gu) ?? []).join("");
}

/** Removes white space. As in sprig, if there was any, the remaining bytes are read as characters. */
function withoutSpace(s: string): string {
  const binary = toBinary(s);
  const kept = binary.replace(/\p{White_Space}/gu, "");
  return kept.length === binary.length ? s : kept;
}
