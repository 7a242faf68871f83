import { byteLength, bytesOf, sliceBytes } from "../../go_bytes.ts";
import { equals, integerOf, lessOrEqual, lessThan } from "../compare.ts";
import { sprintAll, sprintln } from "../fmt/print.ts";
import { sprintf } from "../fmt/printf.ts";
import { isGoMap, isList, typeOf } from "../kind.ts";
import { truth } from "../truth.ts";
import { type Effect, GoInt, type GoValue, isNil, type Signature, typed, typeTag } from "../../go_value.ts";
import { anyType, slotType } from "./argument.ts";
import { displayAll } from "./display.ts";
import { escapeHtml, escapeJs, escapeQuery } from "./escape.ts";
import { elementZero } from "./field.ts";
import type { Slot } from "./state.ts";

/** A function as the engine calls it. */
export interface Callable {
  readonly run: (...args: Slot[]) => Slot;
  readonly signature: Signature;
  /** If absent, `none`, as for builtin functions. */
  readonly effect?: Effect;
}

const two: Signature = { params: [slotType, slotType] };
const one: Signature = { params: [slotType] };
const oneOrMore: Signature = { params: [slotType, slotType], variadic: true };
const anyNumber: Signature = { params: [anyType], variadic: true };

/**
 * The functions of every template. `and`, `or` and `call` are listed for their signatures only: the compiler implements
 * the short circuit of `and` and `or`, and the function value of `call`.
 */
export const builtins: ReadonlyMap<string, Callable> = new Map<string, Callable>([
  ["and", { signature: oneOrMore, run: (...args) => args.at(-1) }],
  ["or", { signature: oneOrMore, run: (...args) => args.at(-1) }],
  ["not", { signature: one, run: (value) => !truth(value) }],
  ["len", { signature: one, run: length }],
  ["index", { signature: oneOrMore, run: index }],
  ["slice", { signature: oneOrMore, run: slice }],
  ["eq", { signature: oneOrMore, run: equalsAny }],
  ["ne", { signature: two, run: (a, b) => !equals(a, b) }],
  ["lt", { signature: two, run: lessThan }],
  ["le", { signature: two, run: lessOrEqual }],
  ["gt", { signature: two, run: (a, b) => !lessOrEqual(a, b) }],
  ["ge", { signature: two, run: (a, b) => !lessThan(a, b) }],
  ["print", { signature: anyNumber, run: (...args) => sprintAll(values(args)) }],
  ["println", { signature: anyNumber, run: (...args) => sprintln(values(args)) }],
  ["printf", { signature: { params: ["string", anyType], variadic: true }, run: formatted }],
  ["html", { signature: anyNumber, run: (...args) => escapeHtml(displayAll(values(args))) }],
  ["js", { signature: anyNumber, run: (...args) => escapeJs(displayAll(values(args))) }],
  ["urlquery", { signature: anyNumber, run: (...args) => escapeQuery(displayAll(values(args))) }],
  ["call", { signature: oneOrMore, run: () => undefined }],
]);

function values(args: readonly Slot[]): GoValue[] {
  return args.map((arg) => arg ?? null);
}

function formatted(format: Slot, ...args: Slot[]): string {
  return sprintf(typeof format === "string" ? format : "", values(args));
}

function equalsAny(first: Slot, ...others: Slot[]): boolean {
  if (others.length === 0) throw new Error("missing argument for comparison");
  return others.some((other) => equals(first, other));
}

function length(value: Slot): bigint {
  if (typeof value === "string") return BigInt(byteLength(value));
  if (isList(value)) return BigInt(value.length);
  if (isGoMap(value)) return BigInt(Object.keys(value).length);
  if (value === undefined) throw new Error("reflect: call of reflect.Value.Type on zero Value");
  if (isNil(value)) throw new Error("len of nil pointer");
  throw new Error(`len of type ${typeOf(value).replace(/^\*/, "")}`);
}

/** `index x 1 "a"` is x[1]["a"]. */
function index(item: Slot, ...keys: Slot[]): Slot {
  if (item === undefined || item === null) throw new Error("index of untyped nil");
  let found: Slot = item;
  for (const key of keys) found = element(found ?? null, key ?? null);
  return found;
}

function element(item: GoValue, key: GoValue): Slot {
  if (isNil(item)) throw new Error("index of nil pointer");
  if (isGoMap(item)) return mapElement(item, key);
  if (isList(item)) return item[position(key, item.length, "slice")];
  if (typeof item !== "string") throw new Error(`can't index item of type ${typeOf(item)}`);
  const bytes = bytesOf(item);
  return new GoInt(BigInt(bytes[position(key, bytes.length, "string")] ?? 0), "uint8");
}

function mapElement(map: Parameters<typeof elementZero>[0], key: GoValue): Slot {
  if (key === null) throw new Error("value is nil; should be of type string");
  if (typeof key !== "string") throw new Error(`value has type ${typeOf(key)}; should be string`);
  return Object.hasOwn(map, key) ? map[key] : elementZero(map);
}

function position(key: GoValue, size: number, what: "slice" | "string"): number {
  const at = bound(key, size);
  if (at === size) throw new Error(`reflect: ${what} index out of range`);
  return at;
}

/** Converts an index and checks that it is from 0 to the size, inclusive. */
function bound(key: Slot, size: number): number {
  if (key === null || key === undefined) throw new Error("cannot index slice/array with nil");
  const at = integerOf(key);
  if (at === undefined) throw new Error(`cannot index slice/array with type ${typeOf(key)}`);
  if (at < 0n || at > BigInt(size)) throw new Error(`index out of range: ${at}`);
  return Number(at);
}

/** `slice x 1 2` is x[1:2]. For strings, the bounds count bytes. */
function slice(item: Slot, ...bounds: Slot[]): Slot {
  if (item === undefined || item === null) throw new Error("slice of untyped nil");
  if (isNil(item)) throw new Error("slice of nil pointer");
  if (bounds.length > 3) throw new Error(`too many slice indexes: ${bounds.length}`);
  if (typeof item === "string") return substring(item, bounds);
  if (isList(item)) return sublist(item, ...range(item.length, bounds));
  throw new Error(`can't slice item of type ${typeOf(item)}`);
}

function substring(text: string, bounds: readonly Slot[]): string {
  if (bounds.length === 3) throw new Error("cannot 3-index slice a string");
  return sliceBytes(text, ...range(byteLength(text), bounds));
}

function range(size: number, bounds: readonly Slot[]): [number, number] {
  const [from = 0, to = size, capacity] = bounds.map((one) => bound(one, size));
  if (from > to) throw new Error(`invalid slice index: ${from} > ${to}`);
  if (capacity !== undefined && to > capacity) throw new Error(`invalid slice index: ${to} > ${capacity}`);
  return [from, to];
}

function sublist(list: readonly GoValue[], from: number, to: number): readonly GoValue[] {
  const part = list.slice(from, to);
  const tag = typeTag(list);
  return tag === undefined ? part : typed(part, tag);
}
