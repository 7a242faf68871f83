import assert from "node:assert/strict";
import { absentPart, allParts } from "../snapshot/snapshot.ts";
import { servicesOf, workloadOf, ztunnelDump } from "./dump.ts";
import { rulingOf } from "./policies.ts";

const SELF = { namespace: "shop", name: "catalog-1" };

/** Returns a dump. With `areMaps`, its lists are maps, as in releases before 1.24. */
function dumpOf(policies: readonly object[], own: readonly string[] = [], areMaps = false) {
  const workload = {
    uid: "Kubernetes//Pod/shop/catalog-1",
    workloadIps: ["10.0.0.9"],
    waypoint: { destination: "net/10.96.0.50" },
    protocol: "HBONE",
    ...SELF,
    trustDomain: "td",
    serviceAccount: "catalog",
    status: "Healthy",
    authorizationPolicies: own,
  };
  const service = {
    hostname: "catalog.shop.svc.cluster.local",
    vips: ["/10.96.0.9"],
    ports: { "80": 8080 },
    endpoints: { x: { workloadUid: workload.uid, port: { "80": 8080 } } },
  };
  const value = areMaps ? { workloads: { a: workload }, services: { a: service }, policies: { a: policies[0] } } : {
    workloads: [workload],
    services: [service],
    policies,
    certificates: [{ identity: "spiffe://x", state: "Available" }],
  };
  const dump = ztunnelDump({ parts: allParts(new Map([["ztunnel.json", { text: JSON.stringify(value) }]])) });
  assert.ok(typeof dump !== "string");
  const found = workloadOf(dump, SELF);
  assert.ok(found !== undefined);
  return { dump, workload: found };
}

Deno.test("a dump has the workload of a pod, its services and its identity, as lists and as maps", () => {
  for (const areMaps of [true, false]) {
    const { dump, workload } = dumpOf([{}], [], areMaps);
    assert.equal(workload.identity, "spiffe://td/ns/shop/sa/catalog");
    assert.deepEqual([workload.isHbone, workload.waypoint], [true, "10.96.0.50"]);
    assert.deepEqual(servicesOf(dump, workload).map(({ host, addresses }) => [host, addresses]), [
      ["catalog.shop.svc.cluster.local", ["10.96.0.9"]],
    ]);
  }
  const absent = ztunnelDump({ parts: allParts(new Map([["ztunnel.json", absentPart("forbidden", "no right")]])) });
  assert.equal(absent, "no right");
});

const CLIENT = "spiffe://td/ns/shop/sa/cart";
const FROM = { identity: CLIENT, source: "10.0.0.8", destination: "10.0.0.9", port: 8080 } as const;

function policy(action: string, match: object | undefined, scope = "Namespace", more: object = {}) {
  const rules = match === undefined ? [] : [[[match]]];
  return { name: "p", namespace: "shop", action, scope, rules, ...more };
}

const STRICT = policy("Deny", { notPrincipals: [{ Presence: {} }] }, "WorkloadSelector");
const ALLOW = policy("Allow", { principals: [{ Exact: "td/ns/shop/sa/cart" }] });

/** A name, policies, the policies that select the workload, the connection, the outcome. */
const CASES: readonly (readonly [string, readonly object[], readonly string[], object, string])[] = [
  ["without policies", [], [], {}, "allowed"],
  ["STRICT with a certificate", [STRICT], ["shop/p"], {}, "allowed"],
  ["STRICT with plain text", [STRICT], ["shop/p"], { identity: "none" }, "denied"],
  ["STRICT of another workload", [STRICT], [], { identity: "none" }, "allowed"],
  ["STRICT, and the identity is unknown", [STRICT], ["shop/p"], { identity: undefined }, "unknown"],
  ["an identity that is let in", [ALLOW], [], {}, "allowed"],
  ["another identity", [ALLOW], [], { identity: "spiffe://td/ns/shop/sa/web" }, "denied"],
  ["plain text against an ALLOW", [ALLOW], [], { identity: "none" }, "denied"],
  ["an ALLOW without rules", [policy("Allow", undefined)], [], {}, "denied"],
  ["an ALLOW of another namespace", [policy("Allow", undefined, "Namespace", { namespace: "x" })], [], {}, "allowed"],
  ["a DENY for all of the mesh", [policy("Deny", { destinationPorts: [8080] }, "Global")], [], {}, "denied"],
  ["a port that no DENY names", [policy("Deny", { destinationPorts: [1] })], [], {}, "allowed"],
  ["addresses", [policy("Allow", { sourceIps: ["10.0.0.0/24"], notDestinationIps: ["10.1.0.1"] })], [], {}, "allowed"],
  ["an unknown address", [policy("Deny", { sourceIps: ["10.0.0.0/24"] })], [], { source: "" }, "unknown"],
  ["a namespace by prefix", [policy("Allow", { namespaces: [{ Prefix: "sh" }] })], [], {}, "allowed"],
  ["a namespace by suffix", [policy("Deny", { namespaces: [{ Suffix: "x" }] })], [], {}, "allowed"],
  [
    "a service account",
    [policy("Allow", { serviceAccounts: [{ namespace: "shop", serviceAccount: "cart" }] })],
    [],
    {},
    "allowed",
  ],
  [
    "a policy that is only logged",
    [policy("Deny", { destinationPorts: [8080] }, "Global", { dryRun: true })],
    [],
    {},
    "allowed",
  ],
  ["an ALLOW that is only logged", [policy("Allow", undefined, "Namespace", { dryRun: true })], [], {}, "allowed"],
  ["a clause without matches", [policy("Deny", undefined, "Namespace", { rules: [[[]]] })], [], {}, "denied"],
  ["a principal that no name begins with", [policy("Allow", { principals: [{ Exact: CLIENT }] })], [], {}, "denied"],
  ["a match without fields", [policy("Deny", {})], [], {}, "allowed"],
];

for (const [name, policies, own, changes, outcome] of CASES) {
  Deno.test(`a policy of ztunnel: ${name}`, () => {
    const { dump, workload } = dumpOf(policies, own);
    assert.equal(rulingOf(dump, workload, { ...FROM, ...changes }).outcome, outcome);
  });
}
