/** sprig's functions on numbers: integer arithmetic in int64, float arithmetic with decimals, rounding, sequences. */
import { type FuncMap, type GoInt, type GoValue, pure, typed } from "../../../go_value.ts";
import { ANY, FLOAT, float, INT, int, limitMade, STRING, text } from "../args.ts";
import { int64, parseIntClamped, parseOctal, toFloat64, toInt64 } from "./cast.ts";
import {
  addDecimal,
  type Decimal,
  decimalOf,
  divideDecimal,
  floatOf,
  multiplyDecimal,
  subtractDecimal,
} from "./decimal.ts";
import { sprint } from "../../fmt/print.ts";

/** Returns the functions of this file by name. */
export function mathFunctions(): FuncMap {
  const max = manyAfterOne((a, rest) => int64(pickInt(a, rest, (x, y) => x > y)));
  return {
    atoi: pure([STRING], (s) => parseIntClamped(text(s))),
    int: pure([ANY], (v) => toInt64(v)),
    int64: pure([ANY], (v) => int64(toInt64(v))),
    float64: pure([ANY], (v) => toFloat64(v)),
    toDecimal: pure([ANY], (v) => int64(parseOctal(sprint(v)) ?? 0n)),
    add: pure([ANY], (...all) => int64(all.reduce((sum: bigint, v) => sum + toInt64(v), 0n)), true),
    add1: pure([ANY], (v) => int64(toInt64(v) + 1n)),
    sub: pure([ANY, ANY], (a, b) => int64(toInt64(a) - toInt64(b))),
    mul: manyAfterOne((a, rest) => int64(rest.reduce((product: bigint, v) => product * toInt64(v), toInt64(a)))),
    div: pure([ANY, ANY], (a, b) => int64(toInt64(a) / divisor(b))),
    mod: pure([ANY, ANY], (a, b) => int64(toInt64(a) % divisor(b))),
    max,
    biggest: max,
    min: manyAfterOne((a, rest) => int64(pickInt(a, rest, (x, y) => x < y))),
    maxf: manyAfterOne((a, rest) => [a, ...rest].map(toFloat64).reduce(goMax)),
    minf: manyAfterOne((a, rest) => [a, ...rest].map(toFloat64).reduce(goMin)),
    add1f: pure([ANY], (v) => foldDecimals(toFloat64(v), [1n], addDecimal)),
    addf: pure([ANY], (...all) => foldDecimals(0, all, addDecimal), true),
    subf: manyAfterOne((a, rest) => foldDecimals(toFloat64(a), rest, subtractDecimal)),
    mulf: manyAfterOne((a, rest) => foldDecimals(toFloat64(a), rest, multiplyDecimal)),
    divf: manyAfterOne((a, rest) => foldDecimals(toFloat64(a), rest, divideDecimal)),
    ceil: pure([ANY], (v) => Math.ceil(toFloat64(v))),
    floor: pure([ANY], (v) => Math.floor(toFloat64(v))),
    round: pure([ANY, INT, FLOAT], (v, places, ...on) => round(toFloat64(v), int(places), on[0]), true),
    until: pure([INT], (count) => ints(range(0, int(count), int(count) < 0 ? -1 : 1))),
    untilStep: pure([INT, INT, INT], (start, stop, step) => ints(range(int(start), int(stop), int(step)))),
    seq: pure([INT], (...all) => sequence(all.map(int)).join(" "), true),
  };
}

function manyAfterOne(body: (first: GoValue, rest: GoValue[]) => GoInt | number) {
  return pure([ANY, ANY], (first, ...rest) => body(first ?? null, rest), true);
}

function divisor(value: GoValue): bigint {
  const by = toInt64(value);
  if (by === 0n) throw new Error("runtime error: integer divide by zero");
  return by;
}

function pickInt(first: GoValue, rest: readonly GoValue[], wins: (a: bigint, b: bigint) => boolean): bigint {
  return rest.map(toInt64).reduce((best, value) => (wins(value, best) ? value : best), toInt64(first));
}

/** Go's math.Max: an infinity wins even over NaN. */
function goMax(a: number, b: number): number {
  return a === Infinity || b === Infinity ? Infinity : Math.max(a, b);
}

function goMin(a: number, b: number): number {
  return a === -Infinity || b === -Infinity ? -Infinity : Math.min(a, b);
}

function foldDecimals(start: number, values: readonly GoValue[], operate: (a: Decimal, b: Decimal) => Decimal): number {
  return floatOf(values.map(toFloat64).map(decimalOf).reduce(operate, decimalOf(start)));
}

/**
 * Rounds to `places` decimal places. Rounds up if the remainder is at least `on` (default 0.5) units of the last place.
 * Negative numbers round towards minus infinity.
 */
function round(value: number, places: number, on: GoValue | undefined): number {
  const power = 10 ** places;
  const shifted = power * value;
  const up = shifted - Math.trunc(shifted) >= (on === undefined ? 0.5 : float(on));
  return (up ? Math.ceil(shifted) : Math.floor(shifted)) / power;
}

/** The numbers from `start` up to, but not including, `stop`; empty if the step has the wrong sign. */
function range(start: number, stop: number, step: number): number[] {
  const down = stop < start;
  if (down ? step >= 0 : step <= 0) return [];
  limitMade(Math.abs((stop - start) / step));
  const numbers: number[] = [];
  for (let i = start; down ? i > stop : i < stop; i += step) numbers.push(i);
  return numbers;
}

function ints(numbers: readonly number[]): GoValue {
  return typed(numbers.map(BigInt), "[]int");
}

/** `seq LAST`, `seq FIRST LAST` or `seq FIRST STEP LAST`, like the command `seq`. */
function sequence(params: readonly number[]): number[] {
  const [a = 0, b = 0, c = 0] = params;
  if (params.length === 1) return inclusive(1, a);
  if (params.length === 2) return inclusive(a, b);
  if (params.length !== 3 || (c < a && b > 0)) return [];
  return range(a, c < a ? c - 1 : c + 1, b);
}

function inclusive(first: number, last: number): number[] {
  const step = last < first ? -1 : 1;
  return range(first, last + step, step);
}
