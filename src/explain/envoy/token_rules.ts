/** Reads the rules of a filter that checks tokens (envoy/extensions/filters/http/jwt_authn/v3). */
import { isMap, mapAt, mapsAt, textAt, textsAt, type ValueMap } from "../../base/value.ts";
import { hasMessage } from "./message.ts";

export interface TokenRules {
  /** Issuers whose tokens are accepted; an empty name accepts any issuer. */
  readonly issuers: readonly string[];
  /** Headers that contain tokens, in lower case, and the prefix before the token. */
  readonly headers: readonly { readonly name: string; readonly prefix: string }[];
  readonly queries: readonly string[];
  readonly isOptional: boolean;
  /** Whether a request with an invalid token passes. */
  readonly takesFailed: boolean;
}

/** Default locations of a token: the header `Authorization: Bearer` and the query parameter `access_token`. */
const USUAL = { headers: [{ name: "authorization", prefix: "Bearer " }], queries: ["access_token"] };

export function readTokenRules(config: ValueMap): TokenRules {
  const providers = Object.values(mapAt(config, "providers")).filter(isMap);
  const requirements = mapsAt(config, "rules").map((rule) => mapAt(rule, "requires"));
  const places = providers.map(placesOf);
  return {
    issuers: providers.map((each) => textAt(each, "issuer")),
    headers: places.flatMap(({ headers }) => headers),
    queries: places.flatMap(({ queries }) => queries),
    isOptional: requirements.every((each) => permits(each, ["allow_missing", ANY_TOKEN], 0)),
    takesFailed: requirements.every((each) => permits(each, [ANY_TOKEN], 0)),
  };
}

function placesOf(provider: ValueMap): Pick<TokenRules, "headers" | "queries"> {
  const headers = mapsAt(provider, "from_headers").map((each) => ({
    name: textAt(each, "name").toLowerCase(),
    prefix: textAt(each, "value_prefix"),
  }));
  const queries = textsAt(provider, "from_params");
  return headers.length + queries.length === 0 ? USUAL : { headers, queries };
}

/** Maximum depth of nested requirements. Istio uses three levels. */
const MAX_LEVELS = 8;

const ANY_TOKEN = "allow_missing_or_failed";

/** Whether a requirement, or an alternative in it, is of a wanted kind. An empty requirement accepts any request. */
function permits(requirement: ValueMap, wanted: readonly string[], level: number): boolean {
  if (level > MAX_LEVELS) return false;
  const any = mapsAt(mapAt(requirement, "requires_any"), "requirements");
  const all = mapsAt(mapAt(requirement, "requires_all"), "requirements");
  if (any.length > 0) return any.some((each) => permits(each, wanted, level + 1));
  if (all.length > 0) return all.every((each) => permits(each, wanted, level + 1));
  return wanted.some((each) => hasMessage(requirement, each)) || Object.keys(requirement).length === 0;
}
