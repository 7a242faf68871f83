/** A time zone: its offset (seconds east of UTC) and abbreviation at a time in seconds since 1970. */
export interface Zone {
  at(seconds: number): { readonly offset: number; readonly abbreviation: string };
}

/** A zone with a constant offset and a name that may be empty. */
export function fixedZone(abbreviation: string, offset: number): Zone {
  return { at: () => ({ offset, abbreviation }) };
}

/** Coordinated universal time. */
export const UTC = fixedZone("UTC", 0);

/** The time zone of this process. */
export function localZone(): Zone {
  return loadZone(new Intl.DateTimeFormat().resolvedOptions().timeZone) ?? UTC;
}

/**
 * Finds a zone by name; `undefined` if the name is unknown. As in time.LoadLocation, `""` is UTC and `Local` is the
 * time zone of this process.
 */
export function loadZone(name: string): Zone | undefined {
  if (name === "" || name === "UTC") return UTC;
  if (name === "Local") return localZone();
  try {
    return namedZone(name);
  } catch {
    // RangeError: the name of the time zone is unknown.
    return undefined;
  }
}

function namedZone(name: string): Zone {
  const clock = new Intl.DateTimeFormat("en-US", { ...CLOCK, timeZone: name });
  return {
    at(seconds) {
      const parts = new Map(clock.formatToParts(seconds * 1000).map(({ type, value }) => [type, value]));
      const [year = 0, ...rest] = FIELDS.map((field) => Number(parts.get(field)));
      const [month = 1, day = 1, hour = 0, minute = 0, second = 0] = rest;
      const era = parts.get("era")?.startsWith("B") ? 1 - year : year;
      const offset = secondsOf([era, month, day, hour, minute, second]) - Math.floor(seconds);
      return { offset, abbreviation: abbreviationOf(name, seconds, offset) };
    },
  };
}

const FIELDS = ["year", "month", "day", "hour", "minute", "second"] as const;
const CLOCK: Intl.DateTimeFormatOptions = {
  hourCycle: "h23",
  era: "short",
  year: "numeric",
  month: "numeric",
  day: "numeric",
  hour: "numeric",
  minute: "numeric",
  second: "numeric",
};

/** Converts a date and clock in UTC to seconds since 1970. Fields beyond their range carry over. */
export function secondsOf([year, month, day, hour, minute, second]: readonly number[]): number {
  const date = new Date(0);
  date.setUTCFullYear(year ?? 0, (month ?? 1) - 1, day ?? 1);
  date.setUTCHours(hour ?? 0, minute ?? 0, second ?? 0);
  return date.getTime() / 1000;
}

/**
 * Locales whose data contain abbreviations such as `CET`. A locale has abbreviations for its own region only, and texts
 * such as `GMT+3` for other regions.
 */
const LOCALES = ["en-GB", "en-US", "en-IE", "en-AU", "en-ZA", "en-HK", "ja-JP"];

/** Abbreviations that no locale has, or that differ in tzdata, by zone and by the zone's offset. */
const LETTERS: readonly (readonly [RegExp, Readonly<Record<number, string>>])[] = [
  [/^Europe\/(Moscow|Simferopol)$/, { 10800: "MSK" }],
  [/^Europe\/(London|Guernsey|Isle_of_Man|Jersey)$/, { 3600: "BST" }],
  [/^Asia\/(Jerusalem|Tel_Aviv)$/, { 7200: "IST", 10800: "IDT" }],
  [/^Asia\/(Dubai|Muscat)$/, { 14400: "+04" }],
  [/^Asia\/Karachi$/, { 18000: "PKT" }],
  [/^Asia\/(Kolkata|Calcutta)$/, { 19800: "IST" }],
  [/^Asia\/Jakarta$/, { 25200: "WIB" }],
  [/^Asia\/(Shanghai|Taipei|Macau|Chongqing)$/, { 28800: "CST" }],
  [/^Asia\/Manila$/, { 28800: "PST" }],
  [/^Asia\/(Seoul|Pyongyang)$/, { 32400: "KST" }],
];

function abbreviationOf(timeZone: string, seconds: number, offset: number): string {
  const letters = LETTERS.find(([pattern]) => pattern.test(timeZone))?.[1][offset];
  if (letters !== undefined) return letters;
  for (const locale of LOCALES) {
    const parts = new Intl.DateTimeFormat(locale, { timeZone, timeZoneName: "short" }).formatToParts(seconds * 1000);
    const name = parts.find(({ type }) => type === "timeZoneName")?.value ?? "";
    if (!/^GMT./.test(name)) return name;
  }
  return offsetText(offset);
}

/** The tzdata abbreviation of a zone whose abbreviation has no letters, such as `+03` or `-0330`. */
function offsetText(offset: number): string {
  const minutes = Math.abs(Math.trunc(offset / 60));
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, "0"));
  return `${offset < 0 ? "-" : "+"}${hours}${rest === "00" ? "" : rest}`;
}
