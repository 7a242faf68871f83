/** Whether a string matches (source/common/common/matchers.cc). */
import { REDACTED } from "../../base/redacted.ts";
import { compileRe2 } from "../../golang/re2.ts";
import type { StringMatch } from "../envoy/matchers.ts";
import { type Truth, truthOf } from "./truth.ts";

/**
 * Whether a string matches. Regular expressions match the whole string. `unknown` for an invalid expression, for an
 * extension, and for a value that `snapshot` redacted.
 */
export function matchesString({ kind, text, ignoreCase }: StringMatch, value: string): Truth {
  if (kind === "custom" || text.includes(REDACTED)) return "unknown";
  if (kind === "regex") return matchesRegex(text, value);
  const [wanted, given] = ignoreCase ? [lower(text), lower(value)] : [text, value];
  return truthOf(COMPARE[kind](given, wanted));
}

const COMPARE = {
  exact: (given: string, wanted: string) => given === wanted,
  prefix: (given: string, wanted: string) => given.startsWith(wanted),
  suffix: (given: string, wanted: string) => given.endsWith(wanted),
  contains: (given: string, wanted: string) => given.includes(wanted),
} as const;

/** Maximum length of a pattern to compile. Envoy warns at 100 instructions. */
const MAX_PATTERN = 8192;

/** Whether an RE2 pattern matches the whole string. */
export function matchesRegex(pattern: string, value: string): Truth {
  if (pattern.includes(REDACTED) || pattern.length > MAX_PATTERN) return "unknown";
  const compiled = compileRe2(pattern);
  return typeof compiled === "string" ? "unknown" : truthOf(compiled.matches(value));
}

/** Converts ASCII letters to lower case, as `absl::AsciiStrToLower` does. */
export function lower(text: string): string {
  return text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

const WORDS: Readonly<Record<StringMatch["kind"], string>> = {
  exact: "is",
  prefix: "starts with",
  suffix: "ends with",
  contains: "contains",
  regex: "matches",
  custom: "matches an extension",
};

/** Describes a string matcher, such as `starts with "/api"`. */
export function stringMatchText({ kind, text, ignoreCase }: StringMatch): string {
  if (kind === "custom") return WORDS[kind];
  return `${WORDS[kind]} "${text}"${ignoreCase ? ", in any case" : ""}`;
}
