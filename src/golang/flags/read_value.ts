/** Parses the texts of flags and environment variables into values. */
import { readDuration } from "../duration.ts";
import { parseBool } from "../go_bool.ts";
import { isLowerDnsLabel } from "../net/mod.ts";
import type { Flag, FlagType } from "./flag.ts";

/** A parsed value, or a clause that says why the text is invalid and which texts are valid. */
export type Read<Value> = { readonly value: Value; readonly reason?: never } | {
  readonly value?: never;
  readonly reason: string;
};

type Reader = (text: string, flag: Flag) => Read<string | number | boolean>;

const asText: Reader = (text) => ({ value: text });

const asName: Reader = (text) => {
  if (text === "" || isLowerDnsLabel(text)) return { value: text };
  return { reason: "use up to 63 lower-case letters, digits and inner hyphens" };
};

/** A tag with an optional digest: https://github.com/distribution/reference */
const TAG = /^\w[\w.-]{0,127}(@[a-z0-9]+([+._-][a-z0-9]+)*:[0-9a-fA-F]{32,})?$/;

const asTag: Reader = (text) =>
  text === "" || TAG.test(text)
    ? { value: text }
    : { reason: "use up to 128 letters, digits, _, . and -, such as 1.20.8" };

const asUrl: Reader = (text) => {
  const protocol = URL.parse(text)?.protocol;
  return protocol === "http:" || protocol === "https:"
    ? { value: text }
    : { reason: 'it must be a URL such as "http://localhost:15021/healthz/ready"' };
};

const asInteger = (least: number, most: number): Reader => (text, flag) => {
  const [from, to] = [flag.least ?? least, flag.most ?? most];
  const value = Number(text);
  if (/^\+?\d+$/.test(text) && value >= from && value <= to) return { value };
  return { reason: `it must be a whole number from ${from} to ${to}` };
};

const asDuration: Reader = (text, { least = 0, most = Infinity, unit }) => {
  const isBare = unit !== undefined && /^\d+$/.test(text);
  const nanoseconds = isBare ? BigInt(text) * BigInt(unit * 1e6) : readDuration(text);
  if (typeof nanoseconds !== "bigint") return { reason: `${nanoseconds.reason}: ${DURATION}` };
  const value = Number(nanoseconds) / 1e6;
  if (value >= least && value <= most) return { value };
  return { reason: `it must be ${most === Infinity ? "at least" : "from"} ${least}ms${bound(most)}: ${DURATION}` };
};

const DURATION = 'use a duration such as "1m30s" or "500ms"';

function bound(most: number): string {
  return most === Infinity ? "" : ` to ${most}ms`;
}

const READERS: Readonly<Record<FlagType, Reader>> = {
  text: asText,
  file: asText,
  address: asText,
  name: asName,
  tag: asTag,
  list: asText,
  files: asText,
  texts: asText,
  url: asUrl,
  urls: asUrl,
  integer: asInteger(0, 2 ** 32 - 1),
  port: asInteger(1, 65535),
  duration: asDuration,
  boolean: (text) => {
    const value = parseBool(text);
    return value === undefined ? { reason: 'it must be "true" or "false"' } : { value };
  },
  ratio: (text) => {
    const isRatio = /^(?:\d+(?:\.\d+)?|\.\d+)$/.test(text) && Number(text) <= 1;
    return isRatio ? { value: Number(text) } : { reason: "it must be a number from 0 to 1" };
  },
  choice: (text, { allowed = [] }) =>
    allowed.includes(text) ? { value: text } : { reason: `it must be ${either(allowed)}` },
};

/** Parses one text of a flag. */
export function readValue(flag: Flag, text: string): Read<string | number | boolean> {
  return READERS[flag.type](text, flag);
}

/** Quotes and joins texts: `"a", "b" or "c"`. */
function either(words: readonly string[]): string {
  return words.map((word) => `"${word}"`).join(", ").replace(/, ([^,]*)$/, " or $1");
}
