/** The authorization station: the rule that allows or denies the request. */
import type { FilterChain } from "../envoy/listener.ts";
import type { Policy, Rbac } from "../envoy/rbac.ts";
import type { Overrides } from "../envoy/route_config.ts";
import { type Cause, causeIn, causeOf, type Workload, writerCause } from "../resources/cause.ts";
import type { Request } from "../rules/request.ts";
import { type TokenRuling, tokenRuling } from "../rules/token.ts";
import { type Access, rulesText, type Ruling, rulingOf } from "../rules/rbac_match.ts";
import { clauses, detailOf, editing, ending, passing, refusing, type Step } from "./connection_path.ts";

/** Returns the rules of the RBAC filters of a chain, in order. A route can override the rules of HTTP filters. */
export function rulesOf({ filters }: FilterChain, overrides: readonly Overrides[]): Rbac[] {
  const other = overrides.find(({ rbac }) => rbac !== undefined)?.rbac;
  const own = filters.flatMap((filter) => filter.kind === "rbac" ? [filter.rbac] : []);
  const http = httpFilters(filters).flatMap((filter) => filter.kind === "rbac" ? [other ?? filter.rbac] : []);
  return [...own, ...http].filter(({ action }) => action !== "none");
}

function httpFilters(filters: FilterChain["filters"]) {
  return filters.flatMap((filter) => filter.kind === "http" ? filter.http.filters : []);
}

/** Returns the filters other than RBAC that can refuse a request. The snapshot does not contain their rules. */
export function unknownFilters({ filters }: FilterChain): string[] {
  return [...filters, ...httpFilters(filters)].flatMap((each) =>
    each.kind === "other" && DECIDING.test(`${each.name} ${each.type}`) ? [each.name] : []
  );
}

/** Filters that can refuse a request by their own rules. Other filters change or measure it. */
const DECIDING =
  /ext_authz|jwt_authn|ratelimit|rate_limit|ExtAuthz|JwtAuthentication|RateLimit|wasm|lua|oauth2|basic_auth/i;

/** Filters other than RBAC that can refuse a request. */
interface Others {
  /** Names of filters whose rules are unknown. */
  readonly unknown: readonly string[];
  /** The filter that checks tokens, and its decision; `undefined`: no such filter. */
  readonly token: TokenRuling & { readonly filter: string } | undefined;
  readonly workload: Workload;
}

/** Returns the filter that checks tokens, and its decision on the token of the request. */
export function tokenOf(
  { filters }: FilterChain,
  request: Request | undefined,
  now: number | undefined,
): Others["token"] {
  const found = httpFilters(filters).find((filter) => filter.kind === "tokens");
  if (found === undefined || request === undefined) return undefined;
  return { ...tokenRuling(found.tokens, request, now), filter: found.name };
}

/** Returns the authorization step of all filters. The first filter that refuses ends the connection. */
export function authorizationStep(rules: readonly Rbac[], access: Access, others: Others): Step | undefined {
  const { unknown, token, workload } = others;
  if (rules.length === 0 && unknown.length === 0 && token === undefined) return undefined;
  if (token?.outcome === "refused" || token?.outcome === "missing") return withoutToken(token, workload);
  return ruledStep(rules, access, others);
}

function ruledStep(rules: readonly Rbac[], access: Access, { unknown, token, workload }: Others): Step {
  const rulings = rules.map((rbac) => ({ rbac, ruling: rulingOf(rbac, access) }));
  const denied = rulings.find(({ ruling }) => ruling.outcome === "denied");
  if (denied !== undefined) return refused(denied, access, workload);
  const depends = rulings.filter(({ ruling }) => ruling.outcome === "depends");
  const filters = token?.outcome === "unknown" ? [...unknown, token.filter] : unknown;
  const others = filters.length === 0 ? "" : `${filters.join(", ")} can refuse the connection too`;
  if (depends.length > 0) return conditional(depends, others);
  const step = allowed(rulings, others);
  if (others === "") return step;
  const cause = token?.outcome === "unknown" ? tokenCause(token, workload) : writerCause(unknown.join(", "), workload);
  return { ...step, cause };
}

function withoutToken(token: TokenRuling, workload: Workload): Step {
  const fix = "send no token, or a token of an issuer in the RequestAuthentication";
  return refusing("authorization", { message: `${token.why}: 401` }, fix, tokenCause(token, workload));
}

function tokenCause({ issuer }: TokenRuling, workload: Workload): Cause {
  return causeOf("RequestAuthentication", "spec.jwtRules", { by: "token", workload, issuer });
}

function allowed(rulings: readonly Ruled[], others: string): Step {
  const policies = rulings.flatMap(({ ruling }) => ruling.policies.map(policyText));
  const message = policies.length > 0
    ? `allowed by ${policies.join(", ")}`
    : rulings.length > 0
    ? "no RBAC rule refuses the connection"
    : "the chain has no RBAC rules";
  return passing("authorization", {
    name: rulings.flatMap(({ ruling }) => ruling.policies.map(({ name }) => name))[0] ?? "",
    result: others === "" ? "ok" : "unknown",
    message: clauses(message, others),
    detail: detailOf({ dryRun: rulings.flatMap(({ rbac }) => rbac.hasDryRun ? [rbac.filter] : []) }),
  });
}

interface Ruled {
  readonly rbac: Rbac;
  readonly ruling: Ruling;
}

function refused({ rbac, ruling }: Ruled, { request, identity }: Access, workload: Workload): Step {
  const { filter, action } = rbac;
  const [policy] = ruling.policies;
  const [what, code] = request === undefined ? ["connection", "the connection is closed"] : ["request", "403"];
  const isDeny = action === "deny";
  const allowed = isDeny ? [] : ruling.policies.map(whoText).slice(0, MAX_SHOWN);
  const message = isDeny && policy !== undefined
    ? `${policyText(policy)} denies the ${what}: ${code}`
    : policy === undefined
    ? `an ALLOW policy without rules denies every request: ${code}`
    : `no ALLOW policy allows ${clientText(identity)}: ${code}`;
  const target = policy === undefined ? "an AuthorizationPolicy" : policyText(policy);
  const edit = editing(target.replace(/ rule \d+$/, ""));
  const fix = `${isDeny ? "change" : "add the client to"} spec.rules of ${target}${edit}`;
  const parts = { name: policy?.name ?? "", message, detail: detailOf({ filter, action, allowed }) };
  return refusing("authorization", parts, fix, policy && ruleCause(policy, rbac, identity, workload));
}

function ruleCause(policy: Policy, rbac: Rbac, identity: Access["identity"], workload: Workload): Cause {
  const { origin, rule } = originOf(policy);
  if (origin === "") return writerCause(rbac.filter, workload);
  const action = rbac.action === "deny" ? "deny" : "allow";
  const principal = identity === undefined || identity === "none" ? "" : identity.replace(/^spiffe:\/\//, "");
  const field = action === "deny" ? `spec.rules[${rule}]` : "spec.rules";
  return causeIn(origin, "AuthorizationPolicy", field, { by: "rules", action, rule, principal });
}

const MAX_SHOWN = 5;

function clientText(identity: Access["identity"]): string {
  return identity === "none" ? "a client without mutual TLS" : identity ?? "this client";
}

/** The step if the result depends on the client's identity. The snapshot does not contain the client's certificate. */
function conditional(depends: readonly Ruled[], others: string): Step {
  const texts = depends.flatMap(({ rbac, ruling }) =>
    ruling.policies.slice(0, MAX_SHOWN).map((policy) =>
      `${policyText(policy)} ${rbac.action === "deny" ? "denies" : "allows"} ${whoText(policy)}`
    )
  );
  return ending("authorization", {
    name: depends[0]?.ruling.policies[0]?.name ?? "",
    result: "unknown",
    message: clauses(`the result depends on the client: ${texts.join(", ")}`, others),
    detail: { policies: texts },
  }, { verdict: "unknown", fix: "" });
}

function whoText({ principals, permissions, hasExpression }: Policy): string {
  const [who, what] = [rulesText(principals), rulesText(permissions)];
  const condition = hasExpression ? ", if a CEL condition holds" : "";
  return `${who}${what === "anyone" ? "" : ` to ${what}`}${condition}`;
}

/** Returns the AuthorizationPolicy and the rule of a policy, from its name in Envoy: `ns[shop]-policy[allow-web]-rule[0]`. */
function originOf({ name }: Policy): { readonly origin: string; readonly rule: number } {
  const [, namespace, policy, rule] = /^ns\[([^\]]*)\]-policy\[([^\]]*)\]-rule\[(\d+)\]/.exec(name) ?? [];
  return { origin: policy === undefined ? "" : `AuthorizationPolicy ${namespace}/${policy}`, rule: Number(rule ?? 0) };
}

function policyText(policy: Policy): string {
  const { origin, rule } = originOf(policy);
  return origin === "" ? `"${policy.name}"` : `${origin} rule ${rule}`;
}
