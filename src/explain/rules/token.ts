/** Decides, without keys, whether a filter accepts a request's token (source/extensions/filters/http/jwt_authn). */
import { claimsOf } from "../../base/json_web_token.ts";
import { textAt } from "../../base/value.ts";
import type { TokenRules } from "../envoy/token_rules.ts";
import { headerText, queryValue, type Request } from "./request.ts";

/** The decision. `missing`: the request needs a token but has none. */
export interface TokenRuling {
  readonly outcome: "none" | "missing" | "refused" | "unknown";
  /** Why the token or the request is refused. */
  readonly why: string;
  readonly issuer: string;
}

/** Returns the decision. `now` is in milliseconds since 1970; if `undefined`, ignores the expiry of the token. */
export function tokenRuling(rules: TokenRules, request: Request, now: number | undefined): TokenRuling {
  const token = tokenOf(rules, request);
  if (token === undefined) {
    return { outcome: rules.isOptional ? "none" : "missing", why: "the request has no token", issuer: "" };
  }
  if (rules.takesFailed) return { outcome: "unknown", why: "", issuer: "" };
  const claims = claimsOf(token);
  if (claims === undefined) {
    return { outcome: "refused", why: "the token does not have the form HEADER.PAYLOAD.SIGNATURE", issuer: "" };
  }
  const issuer = textAt(claims, "iss");
  const isKnown = rules.issuers.some((each) => each === "" || each === issuer);
  if (!isKnown) {
    return { outcome: "refused", why: `no RequestAuthentication accepts the token's issuer "${issuer}"`, issuer };
  }
  const { exp } = claims;
  const isOver = typeof exp === "number" && now !== undefined && exp * 1000 + CLOCK_SKEW < now;
  return isOver
    ? { outcome: "refused", why: "the token has expired", issuer }
    : { outcome: "unknown", why: "", issuer };
}

/** Envoy's default tolerance for the expiry of a token, in milliseconds. */
const CLOCK_SKEW = 60_000;

function tokenOf({ headers, queries }: TokenRules, request: Request): string | undefined {
  for (const { name, prefix } of headers) {
    const value = headerText(request, name);
    if (value !== undefined && value.startsWith(prefix)) return value.slice(prefix.length);
  }
  return queries.map((name) => queryValue(request.path, name)).find((value) => value !== undefined);
}
