/** Reads matchers for strings, headers and query parameters (envoy/type/matcher/v3, envoy/config/route/v3). */
import { isMap, mapAt, mapsAt, textAt, type ValueMap } from "../../base/value.ts";
import { flagAt, hasMessage, numberAt } from "./message.ts";

export interface StringMatch {
  readonly kind: "exact" | "prefix" | "suffix" | "contains" | "regex" | "custom";
  readonly text: string;
  readonly ignoreCase: boolean;
}

/** A condition on the value of a header or a query parameter. */
export type ValueMatch =
  | { readonly kind: "string"; readonly match: StringMatch }
  | { readonly kind: "present"; readonly present: boolean }
  | { readonly kind: "range"; readonly start: number; readonly end: number };

/** A `HeaderMatcher`: a condition on one request header. */
export interface HeaderMatch {
  readonly name: string;
  readonly value: ValueMatch;
  readonly invert: boolean;
  readonly missingIsEmpty: boolean;
}

/** A `QueryParameterMatcher`: a condition on one query parameter. */
export interface QueryMatch {
  readonly name: string;
  readonly value: ValueMatch;
}

const KINDS = ["exact", "prefix", "suffix", "contains"] as const;

/** Reads a `StringMatcher`. An empty matcher matches only the empty string. */
export function readStringMatch(map: ValueMap): StringMatch {
  const ignoreCase = flagAt(map, "ignore_case");
  const kind = KINDS.find((each) => typeof map[each] === "string");
  if (kind !== undefined) return { kind, text: textAt(map, kind), ignoreCase };
  if (hasMessage(map, "safe_regex")) return { kind: "regex", text: regexAt(map, "safe_regex"), ignoreCase: false };
  return { kind: hasMessage(map, "custom") ? "custom" : "exact", text: "", ignoreCase };
}

export function regexAt(map: ValueMap, key: string): string {
  return textAt(mapAt(map, key), "regex");
}

/** Reads a `HeaderMatcher`, in the current form or in a form older than `string_match`. */
export function readHeaderMatch(map: ValueMap): HeaderMatch {
  return {
    name: textAt(map, "name").toLowerCase(),
    value: readValueMatch(map),
    invert: flagAt(map, "invert_match"),
    missingIsEmpty: flagAt(map, "treat_missing_header_as_empty"),
  };
}

/** Reads a condition on a value. Without a condition, the matcher tests whether the header or parameter is present. */
function readValueMatch(map: ValueMap): ValueMatch {
  const { string_match: match, range_match: range } = map;
  if (isMap(match)) return { kind: "string", match: readStringMatch(match) };
  if (isMap(range)) return { kind: "range", start: numberAt(range, "start") ?? 0, end: numberAt(range, "end") ?? 0 };
  const old = KINDS.find((kind) => typeof map[`${kind}_match`] === "string");
  if (old !== undefined) {
    return { kind: "string", match: { kind: old, text: textAt(map, `${old}_match`), ignoreCase: false } };
  }
  if (hasMessage(map, "safe_regex_match")) {
    return { kind: "string", match: { kind: "regex", text: regexAt(map, "safe_regex_match"), ignoreCase: false } };
  }
  return { kind: "present", present: map["present_match"] !== false };
}

export function headerMatchesAt(map: ValueMap, key: string): HeaderMatch[] {
  return mapsAt(map, key).map(readHeaderMatch);
}

export function readQueryMatch(map: ValueMap): QueryMatch {
  return { name: textAt(map, "name"), value: readValueMatch(map) };
}
