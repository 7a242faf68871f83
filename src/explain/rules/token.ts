/** Whether a filter takes the token of a request: what can be known without its keys (source/extensions/filters/http/jwt_authn). */
import { isMap, textAt, type Value } from "../../base/value.ts";
import type { TokenRules } from "../envoy/token_rules.ts";
import { headerText, queryValue, type Request } from "./request.ts";

/** `missing`: the request has no token, and needs one. */
export interface TokenRuling {
  readonly outcome: "none" | "missing" | "refused" | "unknown";
  /** Why it is refused. */
  readonly why: string;
  readonly issuer: string;
}

/** `now`: milliseconds since 1970; `undefined`: the age of the token is not checked. */
export function tokenRuling(rules: TokenRules, request: Request, now: number | undefined): TokenRuling {
  const token = tokenOf(rules, request);
  if (token === undefined) {
    return { outcome: rules.isOptional ? "none" : "missing", why: "it has no token", issuer: "" };
  }
  if (rules.takesFailed) return { outcome: "unknown", why: "", issuer: "" };
  const payload = payloadOf(token);
  if (payload === undefined) {
    return { outcome: "refused", why: "the token is not of the form HEADER.PAYLOAD.SIGNATURE", issuer: "" };
  }
  const issuer = textAt(payload, "iss");
  const isKnown = rules.issuers.some((each) => each === "" || each === issuer);
  if (!isKnown) return { outcome: "refused", why: `the issuer "${issuer}" of the token is not known here`, issuer };
  const { exp } = payload;
  const isOver = typeof exp === "number" && now !== undefined && exp * 1000 + CLOCK_SKEW < now;
  return isOver
    ? { outcome: "refused", why: "the token has expired", issuer }
    : { outcome: "unknown", why: "", issuer };
}

/** Envoy's default tolerance. */
const CLOCK_SKEW = 60_000;

function tokenOf({ headers, queries }: TokenRules, request: Request): string | undefined {
  for (const { name, prefix } of headers) {
    const value = headerText(request, name);
    if (value !== undefined && value.startsWith(prefix)) return value.slice(prefix.length);
  }
  return queries.map((name) => queryValue(request.path, name)).find((value) => value !== undefined);
}

function payloadOf(token: string): { readonly [key: string]: Value } | undefined {
  const parts = token.split(".");
  if (parts.length !== 3) return undefined;
  try {
    const bytes = Uint8Array.fromBase64(parts[1] ?? "", { alphabet: "base64url" });
    const value: Value = JSON.parse(new TextDecoder().decode(bytes));
    return isMap(value) ? value : undefined;
  } catch {
    // It is no token.
    return undefined;
  }
}
