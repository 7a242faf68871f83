/** Reads authorization rules (envoy/config/rbac/v3). */
import { isMap, mapAt, mapsAt, textAt, type ValueMap } from "../../base/value.ts";
import type { Cidr } from "../../golang/net/mod.ts";
import { type HeaderMatch, readHeaderMatch, readStringMatch, type StringMatch } from "./matchers.ts";
import { flagAt, hasMessage, numberAt, readAt, readCidr } from "./message.ts";

export interface Rbac {
  readonly filter: string;
  /** Action of the policies; `none` if the filter has no rules and allows every request. */
  readonly action: "allow" | "deny" | "log" | "none";
  readonly policies: readonly Policy[];
  /** Whether the filter has shadow rules, which only log their result. */
  readonly hasDryRun: boolean;
}

/** A policy. It matches if at least one permission and at least one principal match. */
export interface Policy {
  readonly name: string;
  readonly permissions: readonly Rule[];
  readonly principals: readonly Rule[];
  /** Whether the policy has a CEL condition. */
  readonly hasExpression: boolean;
}

export type Rule =
  | { readonly kind: "any" }
  | { readonly kind: "all-of" | "one-of"; readonly rules: readonly Rule[] }
  | { readonly kind: "not"; readonly rule: Rule }
  | { readonly kind: "header"; readonly header: HeaderMatch }
  | { readonly kind: "path"; readonly match: StringMatch }
  | { readonly kind: "port"; readonly first: number; readonly last: number }
  | { readonly kind: "address"; readonly of: AddressOf; readonly cidr: Cidr }
  | { readonly kind: "identity"; readonly match: StringMatch | undefined }
  | { readonly kind: "server-name"; readonly match: StringMatch }
  /** Matches a claim of the request's token. */
  | { readonly kind: "claim"; readonly what: string }
  | { readonly kind: "unknowable"; readonly what: string };

export type AddressOf = "destination" | "source";

/**
 * Replaces a matcher tree, which this program does not evaluate: the policy's result is unknown. Istio uses no matcher
 * tree.
 */
const TREE: Policy = {
  name: "matcher",
  permissions: [{ kind: "any" }],
  principals: [{ kind: "unknowable", what: "a matcher tree" }],
  hasExpression: false,
};

/** Reads the rules of a network filter, an HTTP filter or a route. `filter` is the name of the filter. */
export function readRbacRules(config: ValueMap, filter: string): Rbac {
  const rules = mapAt(config, "rules");
  const hasRules = hasMessage(config, "rules");
  if (!hasRules && hasMessage(config, "matcher")) return { filter, action: "deny", policies: [TREE], hasDryRun: false };
  return {
    filter,
    action: hasRules ? actionOf(textAt(rules, "action")) : "none",
    policies: Object.entries(mapAt(rules, "policies")).flatMap(([name, policy]) =>
      isMap(policy) ? [readPolicy(name, policy)] : []
    ).sort((a, b) => a.name < b.name ? -1 : 1),
    hasDryRun: hasMessage(config, "shadow_rules"),
  };
}

/** Returns the action; proto3 omits the default, ALLOW. */
function actionOf(text: string): Rbac["action"] {
  return text === "DENY" ? "deny" : text === "LOG" ? "log" : "allow";
}

function readPolicy(name: string, policy: ValueMap): Policy {
  return {
    name,
    permissions: mapsAt(policy, "permissions").map((each) => readRule(each, 0)),
    principals: mapsAt(policy, "principals").map((each) => readRule(each, 0)),
    hasExpression: hasMessage(policy, "condition") || hasMessage(policy, "checked_condition"),
  };
}

/** Maximum depth of nested rules. Istio uses five levels. */
const MAX_LEVELS = 32;

const SETS: Readonly<Record<string, "all-of" | "one-of">> = {
  and_rules: "all-of",
  and_ids: "all-of",
  or_rules: "one-of",
  or_ids: "one-of",
};

function readRule(map: ValueMap, level: number): Rule {
  if (level > MAX_LEVELS) return { kind: "unknowable", what: "a rule with too many levels" };
  const inner = (value: ValueMap) => readRule(value, level + 1);
  for (const [key, kind] of Object.entries(SETS)) {
    const set = map[key];
    if (isMap(set)) return { kind, rules: [...mapsAt(set, "rules"), ...mapsAt(set, "ids")].map(inner) };
  }
  const negated = map["not_rule"] ?? map["not_id"];
  if (isMap(negated)) return { kind: "not", rule: inner(negated) };
  return map["any"] === true ? { kind: "any" } : readCondition(map);
}

const ADDRESSES: Readonly<Record<string, AddressOf>> = {
  destination_ip: "destination",
  source_ip: "source",
  direct_remote_ip: "source",
  remote_ip: "source",
};

const CONDITIONS: Readonly<Record<string, (value: ValueMap) => Rule>> = {
  header: (value) => ({ kind: "header", header: readHeaderMatch(value) }),
  url_path: (value) => ({ kind: "path", match: readStringMatch(mapAt(value, "path")) }),
  destination_port_range: (value) => ({
    kind: "port",
    first: numberAt(value, "start") ?? 0,
    last: (numberAt(value, "end") ?? 0) - 1,
  }),
  authenticated: (value) => ({ kind: "identity", match: readAt(value, "principal_name", readStringMatch) }),
  requested_server_name: (value) => ({ kind: "server-name", match: readStringMatch(value) }),
  metadata: readMetadata,
  filter_state: readFilterState,
};

function readCondition(map: ValueMap): Rule {
  const port = numberAt(map, "destination_port");
  if (port !== undefined) return { kind: "port", first: port, last: port };
  for (const [key, value] of Object.entries(map)) {
    if (!isMap(value)) continue;
    const of = ADDRESSES[key];
    if (of !== undefined) return addressRule(of, value);
    const read = Object.hasOwn(CONDITIONS, key) ? CONDITIONS[key] : undefined;
    if (read !== undefined) return read(value);
  }
  return { kind: "unknowable", what: Object.keys(map)[0] ?? "an empty rule" };
}

function addressRule(of: AddressOf, value: ValueMap): Rule {
  const cidr = readCidr(value);
  return typeof cidr === "string" ? { kind: "unknowable", what: cidr } : { kind: "address", of, cidr };
}

/** Filters that store the claims of a token in metadata: Envoy's filter, and Istio's filter before 1.22. */
const TOKENS = ["envoy.filters.http.jwt_authn", "istio_authn"];

/** Reads a metadata rule. Before 1.17, Istio matches the client's identity in the metadata of its own filter. */
function readMetadata(value: ValueMap): Rule {
  const keys = mapsAt(value, "path").map((step) => textAt(step, "key"));
  const match = mapAt(mapAt(value, "value"), "string_match");
  if (keys.at(-1) === "source.principal") return { kind: "identity", match: readStringMatch(match) };
  const what = `metadata ${[textAt(value, "filter"), ...keys].join(" ")}`;
  return TOKENS.includes(textAt(value, "filter")) && !flagAt(value, "invert")
    ? { kind: "claim", what }
    : { kind: "unknowable", what };
}

/** Reads a filter state rule. Istio stores the client's identity in `io.istio.peer_principal`. */
function readFilterState(value: ValueMap): Rule {
  const key = textAt(value, "key");
  const match = mapAt(value, "string_match");
  const isIdentity = key === "io.istio.peer_principal" && !flagAt(value, "invert");
  return isIdentity
    ? { kind: "identity", match: readStringMatch(match) }
    : { kind: "unknowable", what: `state ${key}` };
}
