/** Time zones by IANA name: offsets from the runtime's database, abbreviations from tzdata. */

/** The offset and abbreviation of a zone at one moment. */
export interface ZoneMoment {
  readonly offset: number;
  readonly abbreviation: string;
}

/** A time zone. The argument of `at` is in seconds since 1970. */
export interface Zone {
  readonly name: string;
  at(seconds: number): ZoneMoment;
}

/** Coordinated universal time. */
export const UTC: Zone = { name: "UTC", at: () => ({ offset: 0, abbreviation: "UTC" }) };

/** A zone with a constant offset (seconds east of UTC) and a name that may be empty. */
export function fixedZone(abbreviation: string, offset: number): Zone {
  return { name: abbreviation, at: () => ({ offset, abbreviation }) };
}

/** The zone of the machine. */
export function localZone(): Zone {
  return loadZone(new Intl.DateTimeFormat().resolvedOptions().timeZone) ?? UTC;
}

/**
 * Finds a zone by name; `undefined` if the name is unknown. As in time.LoadLocation, `""` is UTC and `Local` is the
 * machine's zone.
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
  const clock = new Intl.DateTimeFormat("en-US", { ...CLOCK, timeZone: name, timeZoneName: "short" });
  return {
    name,
    at(seconds) {
      const parts = new Map(clock.formatToParts(seconds * 1000).map(({ type, value }) => [type, value]));
      const [year = 0, ...rest] = FIELDS.map((field) => Number(parts.get(field)));
      const [month = 1, day = 1, hour = 0, minute = 0, second = 0] = rest;
      const era = parts.get("era")?.startsWith("B") ? 1 - year : year;
      const offset = secondsOf([era, month, day, hour, minute, second]) - Math.floor(seconds);
      return { offset, abbreviation: abbreviationOf(name, parts.get("timeZoneName") ?? "", offset) };
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

/** English abbreviations that the runtime lacks, by zone and by the zone's offset from UTC in seconds. */
const LETTERS: readonly (readonly [RegExp, Readonly<Record<number, string>>])[] = [
  [/^Europe\/(London|Belfast|Jersey|Guernsey|Isle_of_Man)$/, { 0: "GMT", 3600: "BST" }],
  [/^Europe\/Dublin$/, { 0: "GMT", 3600: "IST" }],
  [/^(Europe\/Lisbon|Atlantic\/(Canary|Madeira|Faroe))$/, { 0: "WET", 3600: "WEST" }],
  [/^Europe\/(Moscow|Simferopol|Minsk)$/, { 10800: "MSK" }],
  [
    /^(Europe\/(Athens|Bucharest|Chisinau|Helsinki|Kiev|Kyiv|Mariehamn|Riga|Sofia|Tallinn|Vilnius)|Asia\/(Nicosia|Beirut)|Africa\/Cairo)$/,
    { 7200: "EET", 10800: "EEST" },
  ],
  [/^(Europe\/|Africa\/(Algiers|Tunis|Ceuta))/, { 3600: "CET", 7200: "CEST" }],
  [/^Asia\/(Kolkata|Calcutta)$/, { 19800: "IST" }],
  [/^Asia\/Tokyo$|^Japan$/, { 32400: "JST" }],
  [/^Asia\/(Seoul|Pyongyang)$/, { 32400: "KST" }],
  [/^Asia\/(Shanghai|Taipei|Macau|Chongqing)$/, { 28800: "CST" }],
  [/^Asia\/Hong_Kong$/, { 28800: "HKT" }],
  [/^Asia\/Manila$/, { 28800: "PST" }],
  [/^Asia\/Jakarta$/, { 25200: "WIB" }],
  [/^Asia\/Karachi$/, { 18000: "PKT" }],
  [/^Asia\/(Jerusalem|Tel_Aviv)$/, { 7200: "IST", 10800: "IDT" }],
  [/^Australia\/(Sydney|Melbourne|Hobart|Brisbane|Canberra)$/, { 36000: "AEST", 39600: "AEDT" }],
  [/^Australia\/(Adelaide|Darwin)$/, { 34200: "ACST", 37800: "ACDT" }],
  [/^Australia\/Perth$/, { 28800: "AWST" }],
  [/^Pacific\/Auckland$/, { 43200: "NZST", 46800: "NZDT" }],
  [/^Africa\/(Johannesburg|Maseru|Mbabane)$/, { 7200: "SAST" }],
  [/^Africa\/(Nairobi|Addis_Ababa|Kampala|Dar_es_Salaam)$/, { 10800: "EAT" }],
  [/^Africa\/(Lagos|Kinshasa|Luanda|Douala)$/, { 3600: "WAT" }],
  [/^Africa\/(Maputo|Harare|Lusaka|Khartoum|Kigali|Lubumbashi)$/, { 7200: "CAT" }],
];

function abbreviationOf(name: string, short: string, offset: number): string {
  const letters = LETTERS.find(([pattern]) => pattern.test(name))?.[1][offset];
  if (letters !== undefined) return letters;
  return short.startsWith("GMT") && offset !== 0 ? offsetText(offset) : short;
}

/** The tzdata abbreviation of a zone whose abbreviation has no letters, such as `+03` or `-0330`. */
function offsetText(offset: number): string {
  const minutes = Math.abs(Math.trunc(offset / 60));
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, "0"));
  return `${offset < 0 ? "-" : "+"}${hours}${rest === "00" ? "" : rest}`;
}
