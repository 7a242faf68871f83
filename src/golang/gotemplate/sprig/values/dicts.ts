/** sprig's functions on maps. `set`, `unset` and the merges change their first argument, as in Go. */
import { isGoMap, sortedKeys, typeOf } from "../../kind.ts";
import { type FuncMap, type GoMap, type GoValue, pure, typeTag, writing } from "../../../go_value.ts";
import { ANY, MAP, mapOf, STRING, text } from "../args.ts";
import { empty } from "./defaults.ts";
import { sprint } from "../../fmt/print.ts";
import { stringList } from "../text/strings.ts";

type Writable = Record<string, GoValue>;

/** Returns the functions of this file by name. */
export function dictFunctions(): FuncMap {
  const merge = merger(false);
  const mergeOverwrite = merger(true);
  return {
    dict: pure([ANY], dict, true),
    get: pure([MAP, STRING], (d, key) => orElse(own(mapOf(d), text(key)), "")),
    set: writing([MAP, STRING, ANY], set),
    unset: writing([MAP, STRING], unset),
    hasKey: pure([MAP, STRING], (d, key) => Object.hasOwn(mapOf(d), text(key))),
    pluck: pure([STRING, MAP], (key, ...dicts) => pluck(text(key), dicts.map(mapOf)), true),
    keys: pure([MAP], (...dicts) => stringList(dicts.flatMap((d) => sortedKeys(mapOf(d)))), true),
    values: pure([MAP], (d) => sortedKeys(mapOf(d)).map((key) => mapOf(d)[key] ?? null)),
    pick: pure([MAP, STRING], (d, ...keys) => pick(mapOf(d), keys.map(text)), true),
    omit: pure([MAP, STRING], (d, ...keys) => omit(mapOf(d), new Set(keys.map(text))), true),
    dig: pure([ANY], dig, true),
    merge,
    mustMerge: merge,
    mergeOverwrite,
    mustMergeOverwrite: mergeOverwrite,
  };
}

/** The value of a key; `undefined` for a missing key. */
function own(map: GoMap, key: string): GoValue | undefined {
  return Object.hasOwn(map, key) ? map[key] : undefined;
}

/** Returns `otherwise` for a missing key. nil counts as a value. */
function orElse(value: GoValue | undefined, otherwise: GoValue): GoValue {
  return value === undefined ? otherwise : value;
}

function newDict(): Writable {
  return Object.create(null);
}

/**
 * Whether a map argument is nil in Go. The engine passes nil as an empty map with a type tag. Other maps have no tag.
 */
function isNilMap(value: GoValue): boolean {
  return value === null || (isGoMap(value) && typeTag(value) === MAP);
}

/**
 * Returns the same map as a writable type. GoMap is read-only because the engine never writes to maps, but sprig's
 * `set` does.
 */
function writable(value: GoValue): Writable {
  if (isGoMap(value) && !isNilMap(value)) return value as Writable;
  throw new Error("assignment to entry in nil map");
}

/** Creates a map from alternating keys and values. A last key without a value gets an empty string. */
function dict(...pairs: GoValue[]): GoValue {
  const map = newDict();
  for (let i = 0; i < pairs.length; i += 2) {
    map[sprint(pairs[i] ?? null)] = i + 1 < pairs.length ? pairs[i + 1] ?? null : "";
  }
  return map;
}

function set(d: GoValue, key: GoValue, value: GoValue): GoValue {
  writable(d)[text(key)] = value;
  return d;
}

function unset(d: GoValue, key: GoValue): GoValue {
  if (!isNilMap(d)) delete writable(d)[text(key)];
  return d;
}

function pluck(key: string, dicts: readonly GoMap[]): GoValue {
  return dicts.map((d) => own(d, key)).filter((value) => value !== undefined);
}

function pick(d: GoMap, keys: readonly string[]): GoValue {
  const picked = newDict();
  for (const key of keys) if (Object.hasOwn(d, key)) picked[key] = d[key] ?? null;
  return picked;
}

function omit(d: GoMap, keys: ReadonlySet<string>): GoValue {
  const kept = newDict();
  for (const [key, value] of Object.entries(d)) if (!keys.has(key)) kept[key] = value;
  return kept;
}

/** `dig KEY... DEFAULT DICT`: the value at the path, or the default if a key is missing. */
function dig(...args: GoValue[]): GoValue {
  if (args.length < 3) throw new Error("dig needs at least three arguments");
  const [otherwise = null, dictionary = null] = args.slice(-2);
  let at = assertMap(dictionary);
  const keys = args.slice(0, -2).map(assertString);
  const last = keys.pop() ?? "";
  for (const key of keys) {
    const next = own(at, key);
    if (next === undefined) return otherwise;
    at = assertMap(next);
  }
  return orElse(own(at, last), otherwise);
}

function assertMap(value: GoValue): GoMap {
  if (isGoMap(value) && typeOf(value) === MAP) return value;
  throw new Error(conversionProblem(value, MAP));
}

function assertString(value: GoValue): string {
  if (typeof value === "string") return value;
  throw new Error(conversionProblem(value, STRING));
}

function conversionProblem(value: GoValue, wanted: string): string {
  return `interface conversion: interface {} is ${value === null ? "nil" : typeOf(value)}, not ${wanted}`;
}

function merger(overwrite: boolean) {
  return writing([MAP, MAP], (target, ...sources) => {
    const into = isNilMap(target) ? newDict() : writable(target);
    for (const source of sources) mergeInto(into, mapOf(source), overwrite);
    return into;
  }, true);
}

/**
 * Copies values that are missing or empty in the target (all values if `overwrite`). Merges nested maps key by key.
 *
 * | source    | target           | merge           | mergeOverwrite  |
 * |-----------|------------------|-----------------|-----------------|
 * | nil       | any              | target          | nil             |
 * | map       | map              | both, by key    | both, by key    |
 * | map       | map, still empty | source          | source          |
 * | any other | missing or empty | source          | source          |
 * | any other | set              | target          | source          |
 */
function mergeInto(target: Writable, source: GoMap, overwrite: boolean): void {
  for (const [key, value] of Object.entries(source)) {
    const present = own(target, key);
    const bothMaps = isGoMap(value) && isGoMap(present);
    if (bothMaps) mergeInto(writable(present), value, overwrite);
    const blank = present === undefined || empty(present);
    if (value === null ? overwrite : blank || (overwrite && !bothMaps)) target[key] = value;
  }
}
