/**
 * Durations of Go's time package (`time.ParseDuration`, `time.Duration.String`), as in mesh configuration, annotations and
 * flags. A duration is a `bigint` of nanoseconds within int64.
 */
import { trimmedEnd } from "../base/text/mod.ts";

const MICROSECOND = 1_000n;
const MILLISECOND = 1_000_000n;
const SECOND = 1_000_000_000n;
const MINUTE = 60n * SECOND;
const HOUR = 60n * MINUTE;
const LIMIT = 1n << 63n;

/** Units by name; the micro sign and the Greek letter both mean microseconds. */
const UNITS: ReadonlyMap<string, bigint> = new Map([
  ["ns", 1n],
  ["us", MICROSECOND],
  ["\u00b5s", MICROSECOND],
  ["\u03bcs", MICROSECOND],
  ["ms", MILLISECOND],
  ["s", SECOND],
  ["m", MINUTE],
  ["h", HOUR],
]);

/** Why a text is not a duration: `reason` is a clause for messages, `go` is the start of Go's error. */
interface DurationProblem {
  readonly reason: string;
  readonly go: string;
}

const TOO_LARGE = invalid("it is longer than 292 years");

function invalid(reason: string): DurationProblem {
  return { reason, go: "invalid duration" };
}

/** The nanoseconds of a duration such as `1h15m30.918s`, `-1.5h` or `0`, or why the text is not one. */
export function readDuration(text: string): bigint | DurationProblem {
  const sign = /^[+-]/.test(text) ? text.charAt(0) : "";
  const body = text.slice(sign.length);
  if (body === "0") return 0n;
  if (body === "") return invalid("it is empty");
  const total = sumParts(body);
  if (typeof total !== "bigint") return total;
  if (sign === "-") return -total;
  return total === LIMIT ? TOO_LARGE : total;
}

function sumParts(body: string): bigint | DurationProblem {
  const part = /(\d*)(\.\d*)?([^.\d]*)/y;
  let total = 0n;
  while (part.lastIndex < body.length) {
    const [, whole = "", fraction = "", name = ""] = part.exec(body) ?? [];
    if (whole === "" && fraction.length < 2) return invalid("a number is missing");
    if (name === "") return { reason: "a unit is missing", go: "missing unit in duration" };
    const unit = UNITS.get(name);
    if (unit === undefined) {
      return { reason: `the unit "${name}" is unknown`, go: `unknown unit ${JSON.stringify(name)} in duration` };
    }
    total += BigInt(whole || "0") * unit + fractionOf(fraction.slice(1), unit);
    if (total > LIMIT) return TOO_LARGE;
  }
  return total;
}

/**
 * The nanoseconds of the digits after the point. As in Go, computed in float64 and truncated; digits beyond int64 are
 * ignored.
 */
function fractionOf(digits: string, unit: bigint): bigint {
  let value = 0n;
  let scale = 1;
  for (const digit of digits) {
    const next = value * 10n + BigInt(digit);
    if (next >= LIMIT) break;
    value = next;
    scale *= 10;
  }
  return BigInt(Math.trunc(Number(value) * (Number(unit) / scale)));
}

/** The shortest form that Go prints: `1h0m0s`, `1.5s`, `100ms`, `0s`. */
export function formatDuration(nanoseconds: bigint): string {
  if (nanoseconds < 0n) return "-" + formatDuration(-nanoseconds);
  if (nanoseconds === 0n) return "0s";
  if (nanoseconds < MICROSECOND) return `${nanoseconds}ns`;
  if (nanoseconds < MILLISECOND) return `${decimal(nanoseconds, MICROSECOND)}\u00b5s`;
  if (nanoseconds < SECOND) return `${decimal(nanoseconds, MILLISECOND)}ms`;
  const seconds = `${decimal(nanoseconds % MINUTE, SECOND)}s`;
  const minutes = (nanoseconds / MINUTE) % 60n;
  if (nanoseconds < MINUTE) return seconds;
  if (nanoseconds < HOUR) return `${minutes}m${seconds}`;
  return `${nanoseconds / HOUR}h${minutes}m${seconds}`;
}

function decimal(value: bigint, unit: bigint): string {
  const width = unit.toString().length - 1;
  const fraction = trimmedEnd((value % unit).toString().padStart(width, "0"), "0");
  return fraction === "" ? `${value / unit}` : `${value / unit}.${fraction}`;
}
