/** What an RBAC filter does with a connection or request (RoleBasedAccessControlEngineImpl). */
import { blockHolds, cidrText, parseAddress } from "../../golang/net/mod.ts";
import type { AddressOf, Policy, Rbac, Rule } from "../envoy/rbac.ts";
import { headerMatchText, matchesHeader } from "./header_match.ts";
import { pathOnly, type Request } from "./request.ts";
import { matchesString, stringMatchText } from "./string_match.ts";
import { all, any, not, type Truth, truthOf } from "./truth.ts";

/** Known properties of the client and its request. */
export interface Access {
  /** `undefined`: not HTTP; conditions on headers and paths do not match. */
  readonly request: Request | undefined;
  readonly destination: string | undefined;
  readonly port: number;
  readonly source: string | undefined;
  /** The name in the client's certificate; `undefined`: unknown; `none`: no certificate. */
  readonly identity: string | undefined | "none";
  readonly serverName: string;
  /** The request has no token of a filter before. */
  readonly hasNoToken?: boolean;
  /** Any request: conditions on headers and paths may hold. */
  readonly isAnyRequest?: boolean;
}

export interface Ruling {
  readonly outcome: "allowed" | "denied" | "depends";
  /** The policies that decide, or on which the outcome depends. */
  readonly policies: readonly Policy[];
}

/** DENY refuses if a policy matches; ALLOW refuses if no policy matches; LOG never refuses. */
export function rulingOf({ action, policies }: Rbac, access: Access): Ruling {
  if (action === "none" || action === "log") return { outcome: "allowed", policies: [] };
  const matches = policies.map((policy) => [policy, matchesPolicy(policy, access)] as const);
  const matching = matches.filter(([, truth]) => truth === "yes").map(([policy]) => policy);
  const unsure = matches.filter(([, truth]) => truth === "unknown").map(([policy]) => policy);
  const [hit, miss] = action === "deny" ? ["denied", "allowed"] as const : ["allowed", "denied"] as const;
  if (matching.length > 0) return { outcome: hit, policies: matching.slice(0, 1) };
  if (unsure.length > 0) return { outcome: "depends", policies: unsure };
  return { outcome: miss, policies: miss === "denied" ? byPermission(policies, access) : [] };
}

/** First the policies that are about this request, and miss the client; then those about another request to this port. */
function byPermission(policies: readonly Policy[], access: Access): readonly Policy[] {
  const permits = ({ permissions }: Policy, of: Access) =>
    any(permissions.map((rule) => matchesRule(rule, of))) !== "no";
  const rank = (policy: Policy) =>
    permits(policy, access) ? 0 : permits(policy, { ...access, isAnyRequest: true }) ? 1 : 2;
  return policies.toSorted((a, b) => rank(a) - rank(b));
}

/** Whether a policy matches: one permission, one principal, and its condition. */
function matchesPolicy({ permissions, principals, hasExpression }: Policy, access: Access): Truth {
  return all([
    any(permissions.map((rule) => matchesRule(rule, access))),
    any(principals.map((rule) => matchesRule(rule, access))),
    hasExpression ? "unknown" : "yes",
  ]);
}

function matchesRule(rule: Rule, access: Access): Truth {
  switch (rule.kind) {
    case "any":
      return "yes";
    case "all-of":
      return all(rule.rules.map((each) => matchesRule(each, access)));
    case "one-of":
      return any(rule.rules.map((each) => matchesRule(each, access)));
    case "not":
      return not(matchesRule(rule.rule, access));
    default:
      return matchesCondition(rule, access);
  }
}

type Condition = Exclude<Rule, { kind: "any" | "all-of" | "one-of" | "not" }>;

function matchesCondition(rule: Condition, access: Access): Truth {
  switch (rule.kind) {
    case "header":
    case "path":
      return matchesRequest(rule, access);
    case "port":
      return truthOf(rule.first <= access.port && access.port <= rule.last);
    case "address":
      return matchesAddress(rule, access);
    case "identity":
      return matchesIdentity(rule.match, access.identity);
    case "server-name":
      return matchesString(rule.match, access.serverName);
    default:
      return rule.kind === "claim" && access.hasNoToken === true ? "no" : "unknown";
  }
}

function matchesRequest(
  rule: Extract<Rule, { kind: "header" | "path" }>,
  { request, isAnyRequest = false }: Access,
): Truth {
  if (isAnyRequest) return "unknown";
  if (request === undefined) return "no";
  return rule.kind === "header"
    ? matchesHeader(rule.header, request)
    : matchesString(rule.match, pathOnly(request.path));
}

function matchesIdentity(match: Extract<Rule, { kind: "identity" }>["match"], identity: Access["identity"]): Truth {
  if (identity === "none") return "no";
  if (match === undefined) return "yes";
  if (identity === undefined) return isAnyText(match) ? "yes" : "unknown";
  return matchesString(match, identity);
}

/** Istio writes `principals: ["*"]` as a pattern for any text. */
function isAnyText({ kind, text }: { readonly kind: string; readonly text: string }): boolean {
  return (kind === "regex" && [".*", ".+"].includes(text)) || (kind === "prefix" && ["", "spiffe://"].includes(text));
}

function matchesAddress({ of, cidr }: Extract<Rule, { kind: "address" }>, access: Access): Truth {
  const text = of === "destination" ? access.destination : access.source;
  const address = text === undefined ? undefined : parseAddress(text);
  return address === undefined || typeof address === "string" ? "unknown" : truthOf(blockHolds(cidr, address));
}

/** Rules in words: `from spiffe://cluster.local/ns/shop/sa/web`. Long lists are shortened. */
export function rulesText(rules: readonly Rule[]): string {
  return listText(rules.map(ruleText).filter((text) => text !== ""), " or ");
}

const MAX_SHOWN = 4;

function listText(texts: readonly string[], between: string): string {
  const all = [...new Set(texts)];
  const shown = all.slice(0, MAX_SHOWN).join(between);
  return all.length > MAX_SHOWN ? `${shown}${between}${all.length - MAX_SHOWN} more` : shown;
}

const ADDRESS_TEXT: Readonly<Record<AddressOf, string>> = {
  destination: "to",
  source: "from",
  "direct-source": "from",
  remote: "from",
};

function ruleText(rule: Rule): string {
  switch (rule.kind) {
    case "any":
      return "anyone";
    case "all-of":
      return listText(rule.rules.map(ruleText).filter((text) => text !== "anyone"), " and ") || "anyone";
    case "one-of":
      return listText(rule.rules.map(ruleText), " or ");
    case "not":
      return `not ${ruleText(rule.rule)}`;
    default:
      return conditionText(rule);
  }
}

function conditionText(rule: Condition): string {
  switch (rule.kind) {
    case "header":
      return headerMatchText(rule.header);
    case "path":
      return `path ${stringMatchText(rule.match)}`;
    case "port":
      return rule.first === rule.last ? `port ${rule.first}` : `ports ${rule.first} to ${rule.last}`;
    case "address":
      return `${ADDRESS_TEXT[rule.of]} ${cidrText(rule.cidr)}`;
    case "identity":
      return rule.match === undefined
        ? "any client with a certificate"
        : `a client that ${stringMatchText(rule.match)}`;
    case "server-name":
      return `server name ${stringMatchText(rule.match)}`;
    default:
      return rule.what;
  }
}
