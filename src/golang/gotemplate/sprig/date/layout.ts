/**
 * Go's time layouts: a layout is an example time (`Mon Jan 2 15:04:05 MST 2006`).
 * Source of the rules: the documentation of Go's time package (Layout constants, Format, Parse).
 */
import { trimmedEnd } from "../../../../base/text/mod.ts";
import { fixedZone, secondsOf, UTC, type Zone } from "./zone.ts";

/** A point in time: nanoseconds since 1970, and the zone for its display. */
export interface Moment {
  readonly nanoseconds: bigint;
  readonly zone: Zone;
}

const TOKEN =
  /January|Jan(?![a-z])|Monday|Mon(?![a-z])|MST|002|0[1-6]|15|1|2006|__2|_2(?!006)|2|3|4|5|PM|pm|[-Z](?:07:00:00|070000|07:00|0700|07)|[.,](?:0+|9+)(?!\d)/g;

/** The English names of the months. */
export const MONTHS = "January February March April May June July August September October November December".split(
  " ",
);
/** The English names of the days of the week. */
export const DAYS = "Sunday Monday Tuesday Wednesday Thursday Friday Saturday".split(" ");

const BILLION = 1_000_000_000n;

/** The date and clock of a moment in its zone. */
export type Fields = ReturnType<typeof fieldsOf>;

/** Whole seconds since 1970, rounded down. */
export function unixSeconds({ nanoseconds }: Moment): number {
  const seconds = nanoseconds / BILLION;
  return Number(nanoseconds % BILLION < 0n ? seconds - 1n : seconds);
}

/** Date, clock and zone of a moment. */
export function fieldsOf(moment: Moment) {
  const seconds = unixSeconds(moment);
  const { offset, abbreviation } = moment.zone.at(seconds);
  const date = new Date((seconds + offset) * 1000);
  const year = date.getUTCFullYear();
  const dayStart = secondsOf([year, date.getUTCMonth() + 1, date.getUTCDate()]);
  return {
    year,
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    weekday: date.getUTCDay(),
    yearDay: (dayStart - secondsOf([year, 1, 1])) / 86400 + 1,
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    second: date.getUTCSeconds(),
    nanosecond: Number(moment.nanoseconds - BigInt(seconds) * BILLION),
    offset,
    abbreviation,
  };
}

/** Formats a moment by a layout. */
export function formatTime(moment: Moment, layout: string): string {
  const fields = fieldsOf(moment);
  return layout.replace(TOKEN, (token) => (WRITERS[token] ?? writerOf(token))(fields));
}

type Write = (fields: Fields) => string;

const WRITERS: Readonly<Record<string, Write>> = {
  January: ({ month }) => MONTHS[month - 1] ?? "",
  Jan: ({ month }) => MONTHS[month - 1]?.slice(0, 3) ?? "",
  "01": ({ month }) => pad(month, 2),
  "1": ({ month }) => String(month),
  Monday: ({ weekday }) => DAYS[weekday] ?? "",
  Mon: ({ weekday }) => DAYS[weekday]?.slice(0, 3) ?? "",
  "02": ({ day }) => pad(day, 2),
  _2: ({ day }) => String(day).padStart(2),
  "2": ({ day }) => String(day),
  "002": ({ yearDay }) => pad(yearDay, 3),
  __2: ({ yearDay }) => String(yearDay).padStart(3),
  "2006": ({ year }) => pad(year, 4),
  "06": ({ year }) => pad(year % 100, 2),
  "15": ({ hour }) => pad(hour, 2),
  "03": ({ hour }) => pad(hour % 12 || 12, 2),
  "3": ({ hour }) => String(hour % 12 || 12),
  "04": ({ minute }) => pad(minute, 2),
  "4": ({ minute }) => String(minute),
  "05": ({ second }) => pad(second, 2),
  "5": ({ second }) => String(second),
  PM: ({ hour }) => (hour < 12 ? "AM" : "PM"),
  pm: ({ hour }) => (hour < 12 ? "am" : "pm"),
  MST: ({ abbreviation, offset }) => abbreviation || zoneText(offset, "-0700"),
};

/** Returns the writer of a zone offset or a fraction of a second. Their forms are too many for a table. */
function writerOf(token: string): Write {
  if (token.startsWith("Z")) {
    return ({ offset }) => (offset === 0 ? "Z" : zoneText(offset, "-" + token.slice(1)));
  }
  if (token.startsWith("-")) return ({ offset }) => zoneText(offset, token);
  return ({ nanosecond }) => fractionText(nanosecond, token);
}

function zoneText(offset: number, form: string): string {
  const colon = form.includes(":") ? ":" : "";
  const size = Math.abs(offset);
  const all = [size / 3600, size / 60 % 60, size % 60].map((part) => pad(Math.floor(part), 2));
  const shown = form.replaceAll(":", "").length / 2 | 0;
  return (offset < 0 ? "-" : "+") + all.slice(0, shown).join(colon);
}

/** The digits of a fraction: `.000` prints three digits, `.999` up to three without trailing zeros. */
function fractionText(nanosecond: number, token: string): string {
  const digits = pad(nanosecond, 9).slice(0, token.length - 1).padEnd(token.length - 1, "0");
  if (token.charAt(1) === "0") return token.charAt(0) + digits;
  const kept = trimmedEnd(digits, "0");
  return kept === "" ? "" : token.charAt(0) + kept;
}

function pad(value: number, width: number): string {
  return value < 0 ? "-" + String(-value).padStart(width, "0") : String(value).padStart(width, "0");
}

interface Draft {
  year: number;
  month: number;
  day: number;
  yearDay: number | undefined;
  hour: number;
  minute: number;
  second: number;
  fraction: string;
  afternoon: boolean | undefined;
  offset: number | undefined;
  abbreviation: string;
}

/** Reads one token. The match is removed from the value, and its first group is passed to `set`. */
interface Reader {
  readonly pattern: RegExp;
  set(draft: Draft, text: string): void;
}

const READERS: Readonly<Record<string, Reader>> = {
  January: { pattern: new RegExp(`^(${MONTHS.join("|")})`, "i"), set: setMonth },
  Jan: { pattern: /^(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)/i, set: setMonth },
  "01": { pattern: /^(\d\d)/, set: (d, t) => d.month = Number(t) },
  "1": { pattern: /^(\d\d?)/, set: (d, t) => d.month = Number(t) },
  Monday: { pattern: /^(Sunday|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday)/i, set: () => {} },
  Mon: { pattern: /^(Sun|Mon|Tue|Wed|Thu|Fri|Sat)/i, set: () => {} },
  "02": { pattern: /^(\d\d)/, set: (d, t) => d.day = Number(t) },
  _2: { pattern: /^ ?(\d\d?)/, set: (d, t) => d.day = Number(t) },
  "2": { pattern: /^(\d\d?)/, set: (d, t) => d.day = Number(t) },
  "002": { pattern: /^(\d\d\d)/, set: (d, t) => d.yearDay = Number(t) },
  __2: { pattern: /^ {0,2}(\d{1,3})/, set: (d, t) => d.yearDay = Number(t) },
  "2006": { pattern: /^(\d{4})/, set: (d, t) => d.year = Number(t) },
  "06": { pattern: /^(\d\d)/, set: (d, t) => d.year = Number(t) + (Number(t) >= 69 ? 1900 : 2000) },
  "15": { pattern: /^(\d\d?)/, set: (d, t) => d.hour = Number(t) },
  "03": { pattern: /^(\d\d)/, set: (d, t) => d.hour = Number(t) },
  "3": { pattern: /^(\d\d?)/, set: (d, t) => d.hour = Number(t) },
  "04": { pattern: /^(\d\d)/, set: (d, t) => d.minute = Number(t) },
  "4": { pattern: /^(\d\d?)/, set: (d, t) => d.minute = Number(t) },
  "05": { pattern: /^(\d\d)/, set: (d, t) => d.second = Number(t) },
  "5": { pattern: /^(\d\d?)/, set: (d, t) => d.second = Number(t) },
  PM: { pattern: /^(AM|PM)/, set: (d, t) => d.afternoon = t === "PM" },
  pm: { pattern: /^(am|pm)/, set: (d, t) => d.afternoon = t === "pm" },
  MST: { pattern: /^(UTC|GMT[+-]\d{1,2}|[A-Z]{3,5}|[+-]\d\d(?:\d\d)?)/, set: (d, t) => d.abbreviation = t },
};

function setMonth(draft: Draft, name: string): void {
  const start = name.slice(0, 3).toLowerCase();
  draft.month = MONTHS.findIndex((month) => month.toLowerCase().startsWith(start)) + 1;
}

const FRACTION: Reader = { pattern: /^(?:[.,](\d+))?/, set: (d, t) => d.fraction = t };

/** Returns the reader of a zone offset or of a fraction, whose forms are too many for a table. */
function readerOf(token: string): Reader {
  if (/^[.,]9/.test(token)) return FRACTION;
  if (/^[.,]/.test(token)) return { ...FRACTION, pattern: new RegExp(`^[.,](\\d{${token.length - 1}})`) };
  const offset = "[+-]" + token.slice(1).replace(/\d\d/g, "\\d\\d");
  return { pattern: new RegExp(token.startsWith("Z") ? `^(Z|${offset})` : `^(${offset})`), set: setOffset };
}

/**
 * Parses a time by a layout. If the value names no zone, the time is in `zone`.
 * Throws if the value does not match the layout, or a part is out of range.
 */
export function parseTime(layout: string, value: string, zone: Zone): Moment {
  const draft = read(layout, value);
  checkRanges(draft, value);
  const hour = draft.afternoon === undefined ? draft.hour : draft.hour % 12 + (draft.afternoon ? 12 : 0);
  const date = draft.yearDay === undefined ? [draft.month, draft.day] : [1, draft.yearDay];
  const seconds = secondsOf([draft.year, ...date, hour, draft.minute, draft.second]);
  return moment(seconds, draft, zone);
}

function read(layout: string, value: string): Draft {
  const clock = { hour: 0, minute: 0, second: 0, fraction: "", afternoon: undefined };
  const draft: Draft = { year: 0, month: 1, day: 1, yearDay: undefined, ...clock, offset: undefined, abbreviation: "" };
  let rest = value;
  const mismatch = (part: string) => {
    const quoted = [value, layout, rest, part].map((text) => JSON.stringify(text));
    return new Error(`parsing time ${quoted[0]} as ${quoted[1]}: cannot parse ${quoted[2]} as ${quoted[3]}`);
  };
  /** Skips text between tokens, which must match the layout. A space matches any number of spaces. */
  const skip = (literal: string) => {
    for (let i = 0; i < literal.length; i++) {
      const isSpace = literal[i] === " ";
      const matches = rest.startsWith(literal.charAt(i)) || (isSpace && rest === "");
      if (!matches) throw mismatch(literal.slice(i));
      rest = isSpace ? rest.replace(/^ +/, "") : rest.slice(1);
    }
  };
  const take = (token: string, { pattern, set }: Reader) => {
    const [read, text = ""] = pattern.exec(rest) ?? [];
    if (read === undefined) throw mismatch(token);
    set(draft, text);
    rest = rest.slice(read.length);
  };
  let at = 0;
  for (const { 0: token, index } of layout.matchAll(TOKEN)) {
    skip(layout.slice(at, index));
    at = index + token.length;
    take(token, READERS[token] ?? readerOf(token));
    // A fraction may follow the seconds even if the layout has none.
    if (/^0?5$/.test(token) && !/^[.,](0+|9+)(?!\d)/.test(layout.slice(at))) take(token, FRACTION);
  }
  skip(layout.slice(at));
  if (rest !== "") throw new Error(`parsing time ${JSON.stringify(value)}: extra text: ${JSON.stringify(rest)}`);
  return draft;
}

function setOffset(draft: Draft, text: string): void {
  const [hours = 0, minutes = 0, seconds = 0] = (text.match(/\d\d/g) ?? []).map(Number);
  const size = hours * 3600 + minutes * 60 + seconds;
  draft.offset = text.startsWith("-") ? -size : size;
}

function checkRanges(draft: Draft, value: string): void {
  const daysOf = (month: number) => new Date(Date.UTC(2000 + (draft.year % 400), month, 0)).getUTCDate();
  const checks: [string, boolean][] = [
    ["month", draft.month >= 1 && draft.month <= 12],
    ["hour", draft.hour < (draft.afternoon === undefined ? 24 : 13)],
    ["minute", draft.minute < 60],
    ["second", draft.second < 60],
    ["day-of-year", (draft.yearDay ?? 1) >= 1 && (draft.yearDay ?? 1) <= 337 + daysOf(2)],
    ["day", draft.day >= 1 && draft.day <= daysOf(draft.month)],
  ];
  const wrong = checks.find(([, good]) => !good);
  if (wrong !== undefined) throw new Error(`parsing time ${JSON.stringify(value)}: ${wrong[0]} out of range`);
}

/** Converts a clock reading to a moment in the zone that the value names, or in `zone` if the value names no zone. */
function moment(clock: number, draft: Draft, zone: Zone): Moment {
  const fraction = BigInt(draft.fraction.slice(0, 9).padEnd(9, "0"));
  const at = (seconds: number, where: Zone) => ({ nanoseconds: BigInt(seconds) * BILLION + fraction, zone: where });
  if (draft.offset !== undefined) {
    const seconds = clock - draft.offset;
    return at(seconds, zoneWithOffset(seconds, draft, zone));
  }
  if (draft.abbreviation === "UTC") return at(clock, UTC);
  const local = zone.at(clock - zone.at(clock).offset);
  const seconds = clock - local.offset;
  if (draft.abbreviation === "" || draft.abbreviation === local.abbreviation) return at(seconds, zone);
  const hours = /^GMT([+-]\d{1,2})$/.exec(draft.abbreviation)?.[1];
  const offset = 3600 * Number(hours ?? 0);
  // For an unknown abbreviation, Go reads the clock as UTC and uses the offset only for display.
  return at(clock, fixedZone(draft.abbreviation, offset));
}

function zoneWithOffset(seconds: number, { offset = 0, abbreviation }: Draft, zone: Zone): Zone {
  const there = zone.at(seconds);
  if (there.offset === offset && (abbreviation === "" || abbreviation === there.abbreviation)) return zone;
  return offset === 0 && abbreviation === "" ? UTC : fixedZone(abbreviation, offset);
}
