/** Whether headers and query parameters match (source/common/http/header_utility.cc, router/config_utility.cc). */
import type { HeaderMatch, QueryMatch, ValueMatch } from "../envoy/matchers.ts";
import { headerText, queryValue, type Request } from "./request.ts";
import { matchesString, stringMatchText } from "./string_match.ts";
import { all, not, type Truth, truthOf } from "./truth.ts";

export function matchesHeaders(matchers: readonly HeaderMatch[], request: Request): Truth {
  return all(matchers.map((each) => matchesHeader(each, request)));
}

/** Whether a header matches. By default, an absent header matches only an inverted presence matcher. */
export function matchesHeader({ name, value, invert, missingIsEmpty }: HeaderMatch, request: Request): Truth {
  const found = headerText(request, name);
  if (value.kind === "present") {
    return truthOf((found !== undefined || missingIsEmpty) === value.present !== invert);
  }
  if (found === undefined && !missingIsEmpty) return "no";
  const matched = matchesValue(value, found ?? "");
  return invert ? not(matched) : matched;
}

function matchesValue(match: Exclude<ValueMatch, { kind: "present" }>, text: string): Truth {
  if (match.kind === "string") return matchesString(match.match, text);
  const isWhole = /^[+-]?\d{1,19}$/.test(text);
  return truthOf(isWhole && Number(text) >= match.start && Number(text) < match.end);
}

export function matchesQueries(matchers: readonly QueryMatch[], { path }: Request): Truth {
  return all(matchers.map(({ name, value }) => {
    const found = queryValue(path, name);
    if (value.kind === "present") return truthOf(found !== undefined === value.present);
    return found === undefined ? "no" : matchesValue(value, found);
  }));
}

/** Describes a header matcher, such as `header end-user is "jason"`. */
export function headerMatchText({ name, value, invert }: HeaderMatch): string {
  return `${invert ? "not " : ""}header ${name} ${valueText(value)}`;
}

/** Describes a query parameter matcher, such as `query beta is "1"`. */
export function queryMatchText({ name, value }: QueryMatch): string {
  return `query ${name} ${valueText(value)}`;
}

function valueText(value: ValueMatch): string {
  if (value.kind === "present") return value.present ? "is present" : "is absent";
  return value.kind === "string" ? stringMatchText(value.match) : `is from ${value.start} to ${value.end - 1}`;
}
