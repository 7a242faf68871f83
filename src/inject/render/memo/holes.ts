/**
 * Holes: places of a rendered value that hold a name of the pod unchanged. While a rendering is recorded, a token stands in
 * each hole.
 */
import { isList, isMap, newMap, type Value, type ValueMap } from "../../../base/value.ts";

/** Starts with a letter, ends with a letter or digit, as names of workloads do. YAML and templates treat all such texts alike. */
const NAME = /^[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?$/;

/** Names that YAML 1.1 does not read as strings, and the proxy's name, which templates look for. */
const RESERVED = /^(?:y|yes|n|no|on|off|true|false|null|istio-proxy)$/;

/** Whether a token can replace the value: a name of up to 63 characters, a string in YAML without quotes, not the proxy. */
export function isName(value: unknown): value is string {
  return typeof value === "string" && NAME.test(value) && !RESERVED.test(value);
}

/** A valid name that no user writes. */
const PREFIX = "kubectl-mesh-hole-";
const TOKEN = new RegExp(`${PREFIX}(\\d{3})`);
const TOKENS = new RegExp(TOKEN.source, "g");

/** Holes by number, the holes of container names, or all. */
export type Holes = readonly number[] | "containers" | "any";

/** The number of tokens. */
export const MAX_HOLES = 1000;

/** The token of a hole. */
export function tokenOf(hole: number): string {
  return `${PREFIX}${String(hole).padStart(3, "0")}`;
}

/** The holes whose tokens are in a text. */
export function holesIn(text: string): readonly number[] {
  return text.includes(PREFIX) ? [...text.matchAll(TOKENS)].map(([, hole]) => Number(hole)) : [];
}

/** Whether a text is one token and nothing else. */
export function isToken(text: string): boolean {
  return text.length === PREFIX.length + 3 && holesIn(text).length === 1;
}

/** Whether a token is in the name of a YAML anchor, alias or tag: YAML compares these names. */
export function namesNode(text: string): boolean {
  return IN_NODE.test(text);
}

const IN_NODE = new RegExp(`[&*!][^\\s&*!]*${PREFIX}`);

/** A value with holes, or the text between holes: strings, and numbers of holes. */
type Skeleton =
  | { readonly text: readonly (string | number)[] }
  | { readonly list: readonly Value[]; readonly holes: readonly (readonly [number, Skeleton])[] }
  | { readonly map: ValueMap; readonly holes: readonly (readonly [string, Skeleton])[] };

/** Makes the value for the names in its holes. Parts without holes are shared. */
export type Form = (names: readonly string[]) => Value;

/** The form of a value with tokens; `undefined` if another name in place of a token could change the value elsewhere. */
export function formOf(value: Value): Form | undefined {
  const found = skeletonOf(value);
  if (found === "unfit") return undefined;
  return found === undefined ? () => value : (names) => filled(found, names);
}

/** `undefined` for a value without holes. */
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

/** An unquoted text is a string for any name if it is one token, or starts with a letter and has a non-letter between tokens. */
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
