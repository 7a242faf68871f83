/**
 * A hole is a position in a rendered value where a name from the pod appears unchanged. To find the holes, the memo
 * renders a template with a token instead of each name.
 */
import { isList, isMap, newMap, type Value, type ValueMap } from "../../../base/value.ts";

/**
 * Matches a DNS label that starts with a letter. YAML and templates treat all such strings alike, except RESERVED ones.
 */
const NAME = /^[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?$/;

/** Names that are not interchangeable: YAML 1.1 does not read them as strings, or templates search for them. */
const RESERVED = /^(?:y|yes|n|no|on|off|true|false|null|istio-proxy)$/;

/** Whether a token can replace the value: a name of at most 63 characters that is not reserved. */
export function isName(value: unknown): value is string {
  return typeof value === "string" && NAME.test(value) && !RESERVED.test(value);
}

/** Start of every token. A token is a valid name, but one that users do not choose. */
const PREFIX = "kubectl-mesh-hole-";
const TOKEN = new RegExp(`${PREFIX}(\\d{3})`);
const TOKENS = new RegExp(TOKEN.source, "g");

/** A set of holes: the holes with these numbers, all holes for container names, or all holes. */
export type Holes = readonly number[] | "containers" | "any";

/** Maximum number of holes in one rendering. */
export const MAX_HOLES = 1000;

export function tokenOf(hole: number): string {
  return `${PREFIX}${String(hole).padStart(3, "0")}`;
}

/** Returns the numbers of the holes whose tokens occur in a text. */
export function holesIn(text: string): readonly number[] {
  return text.includes(PREFIX) ? [...text.matchAll(TOKENS)].map(([, hole]) => Number(hole)) : [];
}

/** Whether a text consists of exactly one token. */
export function isToken(text: string): boolean {
  return text.length === PREFIX.length + 3 && holesIn(text).length === 1;
}

/**
 * Whether a YAML anchor, alias or tag contains a token. YAML matches aliases to anchors by name, so a name in place of
 * the token might change the result.
 */
export function namesNode(text: string): boolean {
  return IN_NODE.test(text);
}

const IN_NODE = new RegExp(`[&*!][^\\s&*!]*${PREFIX}`);

/** A value with holes. In a text, strings are literal parts and numbers are holes. */
type Skeleton =
  | { readonly text: readonly (string | number)[] }
  | { readonly list: readonly Value[]; readonly holes: readonly (readonly [number, Skeleton])[] }
  | { readonly map: ValueMap; readonly holes: readonly (readonly [string, Skeleton])[] };

/** Builds a value by filling names into its holes. Parts without holes are shared between values. */
export type Form = (names: readonly string[]) => Value;

/** Converts a value with tokens to a form; `undefined` if a name in a hole could change other parts of the value. */
export function formOf(value: Value): Form | undefined {
  const found = skeletonOf(value);
  if (found === "unfit") return undefined;
  return found === undefined ? () => value : (names) => filled(found, names);
}

/** Finds the holes in a value; `undefined` if it has no holes, `unfit` if names cannot be filled in safely. */
function skeletonOf(value: Value): Skeleton | "unfit" | undefined {
  if (typeof value === "string") return skeletonOfText(value);
  if (isList(value)) {
    const holes = inner([...value.entries()]);
    return typeof holes === "object" ? { list: value, holes } : holes;
  }
  if (!isMap(value)) return undefined;
  const entries = Object.entries(value);
  if (entries.some(([key]) => holesIn(key).length > 0)) return "unfit";
  const holes = inner(entries);
  return typeof holes === "object" ? { map: value, holes } : holes;
}

function inner<Key>(
  entries: readonly (readonly [Key, Value])[],
): readonly (readonly [Key, Skeleton])[] | "unfit" | undefined {
  const holes: (readonly [Key, Skeleton])[] = [];
  for (const [key, value] of entries) {
    const skeleton = skeletonOf(value);
    if (skeleton === "unfit") return "unfit";
    if (skeleton !== undefined) holes.push([key, skeleton]);
  }
  return holes.length === 0 ? undefined : holes;
}

/** Returns `unfit` unless YAML reads the text as a string for every name that may replace a token. */
function skeletonOfText(text: string): Skeleton | "unfit" | undefined {
  if (holesIn(text).length === 0) return undefined;
  const between = text.split(TOKEN);
  const isString = isToken(text) ||
    (/^[A-Za-z]/.test(text) && between.some((part, at) => at % 2 === 0 && /[^A-Za-z]/.test(part)));
  return isString ? { text: between.map((part, at) => at % 2 === 0 ? part : Number(part)) } : "unfit";
}

function filled(skeleton: Skeleton, names: readonly string[]): Value {
  if ("text" in skeleton) {
    let text = "";
    for (const part of skeleton.text) text += typeof part === "string" ? part : names[part] ?? "";
    return text;
  }
  if ("list" in skeleton) {
    const list = skeleton.list.slice();
    for (const [at, hole] of skeleton.holes) list[at] = filled(hole, names);
    return list;
  }
  const map: ValueMap = Object.assign(newMap(), skeleton.map);
  for (const [key, hole] of skeleton.holes) map[key] = filled(hole, names);
  return map;
}
