/**
 * Decides whether ztunnel's policies allow a connection (ztunnel, src/rbac.rs and src/state.rs). A matching DENY policy
 * refuses the connection. If ALLOW policies exist, at least one must match.
 */
import { blockHolds, hostBlock, parseAddress, parseCidr } from "../../golang/net/mod.ts";
import { isMap, listAt, mapsAt, textAt, textsAt, type ValueMap } from "../../base/value.ts";
import { all, any, not, type Truth, truthOf } from "../rules/truth.ts";
import type { Workload, ZtunnelDump, ZtunnelPolicy } from "./dump.ts";

/** A connection as the server's ztunnel sees it. */
export interface Tunneled {
  /** SPIFFE URI of the client's certificate; `none` for plain text; `undefined` if unknown. */
  readonly identity: string | "none" | undefined;
  /** IP address of the client; empty if unknown. */
  readonly source: string;
  readonly destination: string;
  readonly port: number;
}

export interface PolicyRuling {
  readonly outcome: "allowed" | "denied" | "unknown";
  /** `NAMESPACE/NAME` of the deciding policy; empty if no policy decided. */
  readonly policy: string;
}

/** Returns the decision for a connection to a workload. */
export function rulingOf({ policies }: ZtunnelDump, workload: Workload, connection: Tunneled): PolicyRuling {
  const own = policies.filter((policy) => !policy.isDryRun && applies(policy, workload));
  const matched = own.map((policy) => ({ policy, truth: matches(policy, connection) }));
  const denies = matched.filter(({ policy }) => policy.isDeny);
  const denied = denies.find(({ truth }) => truth === "yes");
  if (denied !== undefined) return { outcome: "denied", policy: nameOf(denied.policy) };
  const open = denies.find(({ truth }) => truth === "unknown");
  if (open !== undefined) return { outcome: "unknown", policy: nameOf(open.policy) };
  const allows = matched.filter(({ policy }) => !policy.isDeny);
  const allowed = allows.find(({ truth }) => truth === "yes");
  if (allowed !== undefined) return { outcome: "allowed", policy: nameOf(allowed.policy) };
  const unsure = allows.find(({ truth }) => truth === "unknown");
  if (unsure !== undefined) return { outcome: "unknown", policy: nameOf(unsure.policy) };
  const [first] = allows;
  return first === undefined ? { outcome: "allowed", policy: "" } : { outcome: "denied", policy: nameOf(first.policy) };
}

/** Returns `NAMESPACE/NAME` of a policy. */
export function nameOf({ namespace, name }: Pick<ZtunnelPolicy, "namespace" | "name">): string {
  return `${namespace}/${name}`;
}

/** Whether a policy applies to a workload. A policy in the root namespace without a selector has the scope Global. */
export function applies(policy: ZtunnelPolicy, workload: Workload): boolean {
  if (policy.scope === "Global") return true;
  if (policy.scope === "Namespace") return policy.namespace === workload.namespace;
  return workload.policies.includes(nameOf(policy));
}

function matches({ rules }: ZtunnelPolicy, connection: Tunneled): Truth {
  const holdsClause = (clause: readonly ValueMap[]) =>
    clause.length === 0 ? "yes" : any(clause.map((each) => holds(each, connection)));
  return any(rules.map((clauses) => all(clauses.map(holdsClause))));
}

type Test = (value: ValueMap, field: string, connection: Tunneled) => Truth;

/** The fields of a match, each with its negated form, whose name starts with `not`. */
const FIELDS: readonly (readonly [field: string, negative: string, test: Test])[] = [
  ["principals", "notPrincipals", (map, field, { identity }) => texts(map, field, principal(identity))],
  ["namespaces", "notNamespaces", (map, field, { identity }) => texts(map, field, partOf(identity, NAMESPACE))],
  ["serviceAccounts", "notServiceAccounts", (map, field, { identity }) => accounts(map, field, identity)],
  ["sourceIps", "notSourceIps", (map, field, { source }) => within(map, field, source)],
  ["destinationIps", "notDestinationIps", (map, field, { destination }) => within(map, field, destination)],
  [
    "destinationPorts",
    "notDestinationPorts",
    (map, field, { port }) => truthOf(listAt(map, field).map(Number).includes(port)),
  ],
];

/** Whether a match holds: all set fields must hold. A match without fields never holds. */
function holds(match: ValueMap, connection: Tunneled): Truth {
  const isSet = (field: string) => listAt(match, field).length > 0;
  const truths = FIELDS.flatMap(([field, negative, test]) => [
    ...isSet(field) ? [test(match, field, connection)] : [],
    ...isSet(negative) ? [not(test(match, negative, connection))] : [],
  ]);
  return truths.length === 0 ? "no" : all(truths);
}

const NAMESPACE = /\/ns\/([^/]+)\//;
const ACCOUNT = /\/sa\/([^/]+)$/;

/** A text; `null` if absent; `undefined` if unknown. */
type Known = string | null | undefined;

function principal(identity: Tunneled["identity"]): Known {
  return identity === "none" ? null : identity?.replace(/^spiffe:\/\//, "");
}

function partOf(identity: Tunneled["identity"], part: RegExp): Known {
  if (identity === "none") return null;
  return identity === undefined ? undefined : part.exec(identity)?.[1] ?? null;
}

function texts(map: ValueMap, field: string, text: Known): Truth {
  if (text === undefined) return "unknown";
  return truthOf(text !== null && mapsAt(map, field).some((each) => matchesText(each, text)));
}

function matchesText(match: ValueMap, text: string): boolean {
  const [exact, prefix, suffix] = [textAt(match, "Exact"), textAt(match, "Prefix"), textAt(match, "Suffix")];
  return exact !== "" && text === exact || prefix !== "" && text.startsWith(prefix) ||
    suffix !== "" && text.endsWith(suffix) || isMap(match["Presence"]);
}

function accounts(map: ValueMap, field: string, identity: Tunneled["identity"]): Truth {
  const [namespace, account] = [partOf(identity, NAMESPACE), partOf(identity, ACCOUNT)];
  if (namespace === undefined || account === undefined) return "unknown";
  return truthOf(
    mapsAt(map, field).some((each) =>
      textAt(each, "namespace") === namespace && textAt(each, "serviceAccount") === account
    ),
  );
}

/** Whether an address is in the blocks of a field. An empty address is unknown. */
function within(map: ValueMap, field: string, text: string): Truth {
  const address = parseAddress(text);
  if (typeof address === "string") return "unknown";
  return truthOf(
    textsAt(map, field).some((range) => {
      const one = parseAddress(range);
      const block = typeof one === "string" ? parseCidr(range) : hostBlock(one);
      return typeof block !== "string" && blockHolds(block, address);
    }),
  );
}
