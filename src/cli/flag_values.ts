/** Texts of flags as values. Errors: a `UsageError` that names the flag, the text, and what it takes. */
import { readDuration } from "../core/duration.ts";
import { UsageError } from "../core/errors.ts";

/** Timers take no more milliseconds. */
const MOST = 2 ** 31 - 1;

/** Milliseconds of a duration as Go writes it: `1m30s`, `500ms`, `0`. */
export function durationValue(flag: string, text: string, least = 0): number {
  const read = readDuration(text);
  const milliseconds = typeof read === "bigint" ? Number(read) / 1e6 : NaN;
  if (milliseconds >= least && milliseconds <= MOST) return milliseconds;
  const reason = typeof read === "bigint" ? `it must be from ${least}ms to ${MOST}ms` : read.reason;
  throw wrong(flag, text, `${reason}: it takes a duration such as "1m30s" or "500ms"`);
}

/** A whole number. */
export function numberValue(flag: string, text: string, { least = 0, most = MOST } = {}): number {
  const value = Number(text);
  if (/^\+?\d+$/.test(text) && value >= least && value <= most) return value;
  throw wrong(flag, text, `it takes a whole number from ${least} to ${most}`);
}

/** A port. */
export function portValue(flag: string, text: string): number {
  return numberValue(flag, text, { least: 1, most: 65535 });
}

/** One of a few words. */
export function choiceValue<Word extends string>(flag: string, text: string, words: readonly Word[]): Word {
  const found = words.find((word) => word === text);
  if (found !== undefined) return found;
  throw wrong(flag, text, `it takes ${words.map((word) => `"${word}"`).join(", ").replace(/, ([^,]*)$/, " or $1")}`);
}

/** A URL of HTTP. */
export function urlValue(flag: string, text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol)) return text;
  throw wrong(flag, text, 'it takes a URL such as "http://localhost:15021/healthz/ready"');
}

function wrong(flag: string, text: string, hint: string): UsageError {
  return new UsageError(`The flag --${flag} cannot be "${text}"`, { hint });
}
