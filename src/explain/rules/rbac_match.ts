/** Decides whether an RBAC filter allows a connection or request (RoleBasedAccessControlEngineImpl). */
import { blockHolds, cidrText } from "../../golang/net/mod.ts";
import { addressOf } from "../address.ts";
import type { AddressOf, Policy, Rbac, Rule } from "../envoy/rbac.ts";
import { headerMatchText, matchesHeader } from "./header_match.ts";
import { pathOnly, type Request } from "./request.ts";
import { matchesString, stringMatchText } from "./string_match.ts";
import { all, any, not, type Truth, truthOf } from "./truth.ts";

/** Known properties of the client and its request. */
export interface Access {
  /** The HTTP request; `undefined` for TCP, where conditions on headers and paths do not match. */
  readonly request: Request | undefined;
  readonly destination: string | undefined;
  readonly port: number;
  readonly source: string | undefined;
  /** Name in the client's certificate; `none` without a certificate; `undefined` if unknown. */
  readonly identity: string | undefined | "none";
  readonly serverName: string;
  /** Whether the request has no token that an earlier filter accepted. */
  readonly hasNoToken?: boolean;
  /** Whether the request is unknown, so that conditions on headers and paths can hold. */
  readonly isAnyRequest?: boolean;
}

export interface Ruling {
  readonly outcome: "allowed" | "denied" | "depends";
  /** The policies that decide, or on which the outcome depends. */
  readonly policies: readonly Policy[];
}

/** Returns the decision. DENY refuses if a policy matches; ALLOW refuses unless a policy matches; LOG never refuses. */
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

/** Sorts ALLOW policies by relevance: policies for this request first, then policies for other requests to this port. */
function byPermission(policies: readonly Policy[], access: Access): readonly Policy[] {
  const permits = ({ permissions }: Policy, of: Access) =>
    any(permissions.map((rule) => matchesRule(rule, of))) !== "no";
  const rank = (policy: Policy) =>
    permits(policy, access) ? 0 : permits(policy, { ...access, isAnyRequest: true }) ? 1 : 2;
  return policies.toSorted((a, b) => rank(a) - rank(b));
}

/** Whether a policy matches: at least one permission and one principal match, and its condition holds. */
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

/** Whether a pattern matches any text. Istio writes `principals: ["*"]` as a pattern. */
function isAnyText({ kind, text }: { readonly kind: string; readonly text: string }): boolean {
  return (kind === "regex" && [".*", ".+"].includes(text)) || (kind === "prefix" && ["", "spiffe://"].includes(text));
}

function matchesAddress({ of, cidr }: Extract<Rule, { kind: "address" }>, access: Access): Truth {
  const address = addressOf(access[of]);
  return address === undefined ? "unknown" : truthOf(blockHolds(cidr, address));
}

/** Describes rules, such as `from spiffe://cluster.local/ns/shop/sa/web`. Shortens long lists. */
export function rulesText(rules: readonly Rule[]): string {
  return listText(rules.map(ruleText).filter((text) => text !== ""), " or ");
}

const MAX_SHOWN = 4;

function listText(texts: readonly string[], between: string): string {
  const all = [...new Set(texts)];
  const shown = all.slice(0, MAX_SHOWN).join(between);
  return all.length > MAX_SHOWN ? `${shown}${between}${all.length - MAX_SHOWN} more` : shown;
}

const ADDRESS_TEXT: Readonly<Record<AddressOf, string>> = { destination: "to", source: "from" };

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
