/** sprig's functions on dates. A time is a `GoTime`; the clock is passed in. */
import { formatDuration, readDuration } from "../../../duration.ts";
import { type FuncMap, GoInt, GoStruct, type GoValue, pure, varying } from "../../../go_value.ts";
import { ANY, attempt, INT, int, STRING, text, TIME } from "../args.ts";
import { int64, parseIntClamped } from "../values/cast.ts";
import { DAYS, type Fields, fieldsOf, formatTime, type Moment, MONTHS, parseTime, unixSeconds } from "./layout.ts";
import { loadZone, localZone, secondsOf, UTC } from "./zone.ts";

const SECOND = 1_000_000_000n;

/** Returns the date functions by name. `now` is the clock. */
export function dateFunctions(now: () => Date): FuncMap {
  const clock = new Clock(now);
  const inZone = varying([STRING, ANY, STRING], (layout, date, zone) => clock.format(text(layout), date, text(zone)));
  const modify = pure([STRING, TIME], (by, date) => attempt(() => shift(text(by), timeOf(date)), date));
  const mustModify = pure([STRING, TIME], (by, date) => shift(text(by), timeOf(date)));
  return {
    now: varying([], () => clock.now()),
    ago: varying([ANY], (date) => formatDuration(roundToSecond(clock.since(clock.timeOf(date))))),
    date: varying([STRING, ANY], (layout, date) => clock.format(text(layout), date, "Local")),
    dateInZone: inZone,
    date_in_zone: inZone,
    dateModify: modify,
    date_modify: modify,
    mustDateModify: mustModify,
    must_date_modify: mustModify,
    htmlDate: varying([ANY], (date) => clock.format("2006-01-02", date, "Local")),
    htmlDateInZone: varying([ANY, STRING], (date, zone) => clock.format("2006-01-02", date, text(zone))),
    toDate: pure([STRING, STRING], (layout, s) => attempt(() => parse(text(layout), text(s)), ZERO)),
    mustToDate: pure([STRING, STRING], (layout, s) => parse(text(layout), text(s))),
    unixEpoch: pure([TIME], (date) => String(unixSeconds(timeOf(date).moment))),
    duration: pure([ANY], (seconds) => formatDuration(BigInt.asIntN(64, secondCount(seconds) * SECOND))),
    durationRound: varying([ANY], (value) => roundDuration(clock.durationOf(value))),
  };
}

/** A time.Time: `now.Year`, `now.Format "2006"`. */
export class GoTime extends GoStruct {
  override readonly goType = TIME;

  constructor(readonly moment: Moment) {
    super();
  }

  override get(name: string): GoValue | undefined {
    return TIME_METHODS[name]?.(this.moment);
  }

  override toJSONValue(): GoValue {
    return formatTime(this.moment, "2006-01-02T15:04:05.999999999Z07:00");
  }

  override text(): string {
    return formatTime(this.moment, "2006-01-02 15:04:05.999999999 -0700 MST");
  }
}

/** The zero time.Time: the first of January of year 1. */
const ZERO = new GoTime({ nanoseconds: BigInt(secondsOf([1, 1, 1])) * SECOND, zone: UTC });

/** A month or a day of the week, which prints as its name. */
class Named extends GoStruct {
  constructor(override readonly goType: string, readonly name: string) {
    super();
  }

  override get(name: string): GoValue | undefined {
    return name === "String" ? this.name : undefined;
  }

  override toJSONValue(): GoValue {
    return this.name;
  }

  override text(): string {
    return this.name;
  }
}

const TIME_METHODS: Readonly<Record<string, (moment: Moment) => GoValue>> = {
  Year: field((f) => f.year),
  Month: (m) => new Named("time.Month", MONTHS[fieldsOf(m).month - 1] ?? ""),
  Day: field((f) => f.day),
  Weekday: (m) => new Named("time.Weekday", DAYS[fieldsOf(m).weekday] ?? ""),
  YearDay: field((f) => f.yearDay),
  Hour: field((f) => f.hour),
  Minute: field((f) => f.minute),
  Second: field((f) => f.second),
  Nanosecond: field((f) => f.nanosecond),
  Unix: (m) => int64(BigInt(unixSeconds(m))),
  UnixMilli: (m) => int64(m.nanoseconds / 1_000_000n),
  UnixMicro: (m) => int64(m.nanoseconds / 1_000n),
  UnixNano: (m) => int64(m.nanoseconds),
  UTC: (m) => new GoTime({ ...m, zone: UTC }),
  Local: (m) => new GoTime({ ...m, zone: localZone() }),
  String: (m) => new GoTime(m).text(),
  IsZero: (m) => m.nanoseconds === ZERO.moment.nanoseconds,
  Format: (m) => pure([STRING], (layout) => formatTime(m, text(layout))),
  After: (m) => pure([TIME], (other) => m.nanoseconds > timeOf(other).moment.nanoseconds),
  Before: (m) => pure([TIME], (other) => m.nanoseconds < timeOf(other).moment.nanoseconds),
  Equal: (m) => pure([TIME], (other) => m.nanoseconds === timeOf(other).moment.nanoseconds),
  AddDate: (m) => pure([INT, INT, INT], (years, months, days) => addDate(m, [years, months, days].map(int))),
};

function field(read: (fields: Fields) => number): (moment: Moment) => GoValue {
  return (moment) => BigInt(read(fieldsOf(moment)));
}

function addDate(moment: Moment, [years = 0, months = 0, days = 0]: readonly number[]): GoValue {
  const f = fieldsOf(moment);
  const wall = secondsOf([f.year + years, f.month + months, f.day + days, f.hour, f.minute, f.second]);
  const offset = moment.zone.at(wall - f.offset).offset;
  return new GoTime({ nanoseconds: BigInt(wall - offset) * SECOND + BigInt(f.nanosecond), zone: moment.zone });
}

function timeOf(value: GoValue): GoTime {
  if (value instanceof GoTime) return value;
  throw new Error(`wrong type for value; expected ${TIME}`);
}

/** Functions that need the current time. */
class Clock {
  constructor(readonly read: () => Date) {}

  now(): GoTime {
    return new GoTime({ nanoseconds: BigInt(this.read().getTime()) * 1_000_000n, zone: localZone() });
  }

  /** Converts a time or seconds since 1970 to a time. Any other value gives the current time. */
  timeOf(value: GoValue): GoTime {
    if (value instanceof GoTime) return value;
    const seconds = typeof value === "bigint"
      ? value
      : value instanceof GoInt && /^int(32|64)$/.test(value.type)
      ? value.value
      : undefined;
    return seconds === undefined ? this.now() : new GoTime({ nanoseconds: seconds * SECOND, zone: localZone() });
  }

  since(time: GoTime): bigint {
    return this.now().moment.nanoseconds - time.moment.nanoseconds;
  }

  format(layout: string, date: GoValue, zone: string): string {
    return formatTime({ ...this.timeOf(date).moment, zone: loadZone(zone) ?? UTC }, layout);
  }

  durationOf(value: GoValue): bigint {
    if (value instanceof GoTime) return this.since(value);
    if (value instanceof GoInt && value.type === "int64") return value.value;
    const parsed = typeof value === "string" ? readDuration(value) : 0n;
    return typeof parsed === "bigint" ? parsed : 0n;
  }
}

function shift(by: string, time: GoTime): GoValue {
  const duration = readDuration(by);
  if (typeof duration !== "bigint") throw new Error(`time: ${duration.go} ${JSON.stringify(by)}`);
  return new GoTime({ ...time.moment, nanoseconds: time.moment.nanoseconds + duration });
}

function parse(layout: string, value: string): GoValue {
  return new GoTime(parseTime(layout, value, localZone()));
}

/** Rounds halves away from zero. */
function roundToSecond(nanoseconds: bigint): bigint {
  const half = nanoseconds < 0n ? -SECOND / 2n : SECOND / 2n;
  return (nanoseconds + half) / SECOND * SECOND;
}

/** The seconds in a string or int64. As in sprig, any other value gives 0, even a plain `int`. */
function secondCount(value: GoValue): bigint {
  if (typeof value === "string") return parseIntClamped(value);
  return value instanceof GoInt && value.type === "int64" ? value.value : 0n;
}

const SPANS: readonly (readonly [bigint, string])[] = [
  [365n * 86400n * SECOND, "y"],
  [30n * 86400n * SECOND, "mo"],
  [86400n * SECOND, "d"],
  [3600n * SECOND, "h"],
  [60n * SECOND, "m"],
  [SECOND, "s"],
];

/** A duration as a number of the largest unit that fits, rounded down. */
function roundDuration(nanoseconds: bigint): string {
  const size = nanoseconds < 0n ? -nanoseconds : nanoseconds;
  const span = SPANS.find(([unit]) => size > unit);
  return span === undefined ? "0s" : `${size / span[0]}${span[1]}`;
}
