import assert from "node:assert/strict";
import { bytesOfBinary } from "../../../base/bytes.ts";
import { buildLookup, find } from "./lookup.ts";
import type { NameInfo } from "../table/name_table.ts";
import { nameOf, wireName } from "../wire.ts";

const external = (...ips: string[]): NameInfo => ({
  ips,
  registry: "External",
  shortname: "",
  namespace: "",
  altHosts: [],
});
const service = (shortname: string, namespace: string, ip: string, altHosts: string[] = []): NameInfo => ({
  ips: [ip],
  registry: "Kubernetes",
  shortname,
  namespace,
  altHosts,
});

/** The table of Istio's own test, and more. */
const TABLE: Record<string, NameInfo> = {
  "www.google.com": external("1.1.1.1"),
  "productpage.ns1.svc.cluster.local": service("productpage", "ns1", "9.9.9.9"),
  "example.ns2.svc.cluster.local": service("example", "ns2", "10.10.10.10"),
  "details.ns2.svc.cluster.remote": service("details", "ns2", "11.11.11.11"),
  "svc-with-alt.ns1.svc.cluster.local": service("svc-with-alt", "ns1", "15.15.15.15", [
    "svc-with-alt.ns1.svc.clusterset.local",
  ]),
  "ipv6.localhost": external("2001:db8:0:0:0:ff00:42:8329"),
  "dual.localhost": external("2.2.2.2", "2001:db8:0:0:0:ff00:42:8329"),
  "ipv4.localhost": external("2.2.2.2", "3.3.3.3", "no address"),
  "mapped.localhost": external("::ffff:4.4.4.4"),
  "*.b.wildcard": external("11.11.11.11"),
  "*.wildcard": external("10.10.10.10"),
  "dotted.example.": external("5.5.5.5"),
  "Upper.Example": external("6.6.6.6"),
  "broken.example": external("nothing"),
  "bad..name": external("7.7.7.7"),
  // The name that "shadow" has with the search domain is one of its own.
  "shadow": external("8.8.8.1"),
  "shadow.ns1.svc.cluster.local": external("8.8.8.2"),
};

const LOOKUP = buildLookup(Object.entries(TABLE), { namespace: "ns1", domain: "ns1.svc.cluster.local" });
const SEARCH = wireName("ns1.svc.cluster.local");

/** `undefined`: another server is asked. Addresses, with the name they are behind where it is another. */
function ask(name: string, type: 1 | 28 | 16 = 1, search = SEARCH): string | undefined {
  const found = find(LOOKUP, search, (wireName(name) ?? assert.fail(name)).toLowerCase(), type);
  if (found === undefined) return undefined;
  const bytes = bytesOfBinary(found.addresses);
  const addresses = Array.from(
    { length: bytes.length / found.width },
    (_, at) => shown(bytes.subarray(at * found.width, (at + 1) * found.width)),
  );
  return [...found.canonical === undefined ? [] : [`=${nameOf(found.canonical)}`], ...addresses].join(" ");
}

function shown(bytes: Uint8Array): string {
  return bytes.length === 4 ? bytes.join(".") : [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

const V6 = "20010db800000000" + "0000ff0000428329";

const A_CASES: readonly (readonly [string, string | undefined])[] = [
  ["www.google.com", "1.1.1.1"],
  ["WWW.Google.COM", "1.1.1.1"],
  ["www.google.com.ns1.svc.cluster.local", "=www.google.com 1.1.1.1"],
  ["www.google.com.svc.cluster.local", undefined],
  ["google.com", undefined],
  ["a.www.google.com", undefined],
  ["www.bing.com", undefined],
  ["productpage.ns1.svc.cluster.local", "9.9.9.9"],
  ["productpage.ns1.svc", "9.9.9.9"],
  ["productpage.ns1.svc.cluster", undefined],
  ["productpage.ns1", "9.9.9.9"],
  ["productpage", "9.9.9.9"],
  ["productpage.ns1.ns1.svc.cluster.local", "=productpage.ns1 9.9.9.9"],
  ["productpage.ns1.svc.ns1.svc.cluster.local", "=productpage.ns1.svc 9.9.9.9"],
  ["productpage.ns1.svc.cluster.local.ns1.svc.cluster.local", "=productpage.ns1.svc.cluster.local 9.9.9.9"],
  ["example.ns2", "10.10.10.10"],
  ["example.ns2.svc", "10.10.10.10"],
  ["example.ns2.svc.cluster.local", "10.10.10.10"],
  ["example.ns2.ns1.svc.cluster.local", "=example.ns2 10.10.10.10"],
  ["example", undefined],
  ["example.ns1.svc.cluster.local", undefined],
  ["svc-with-alt", "15.15.15.15"],
  ["svc-with-alt.ns1", "15.15.15.15"],
  ["svc-with-alt.ns1.svc.clusterset.local", "15.15.15.15"],
  ["details.ns2.svc.cluster.remote", "11.11.11.11"],
  ["details.ns2", undefined],
  ["details.ns2.svc", undefined],
  ["dual.localhost", "2.2.2.2"],
  ["ipv6.localhost", ""],
  ["ipv4.localhost", "2.2.2.2 3.3.3.3"],
  ["mapped.localhost", "4.4.4.4"],
  ["foo.wildcard", "10.10.10.10"],
  ["a.b.wildcard", "11.11.11.11"],
  ["x.y.b.wildcard", "11.11.11.11"],
  ["b.wildcard", "10.10.10.10"],
  ["*.wildcard", "10.10.10.10"],
  ["wildcard", undefined],
  ["foo.wildcard.ns1.svc.cluster.local", "=*.wildcard 10.10.10.10"],
  ["x.a.b.wildcard.ns1.svc.cluster.local", "=*.b.wildcard 11.11.11.11"],
  ["dotted.example", "5.5.5.5"],
  ["upper.example", "6.6.6.6"],
  ["broken.example", undefined],
  ["ns1.svc.cluster.local", undefined],
  ["shadow", "8.8.8.1"],
  ["shadow.ns1.svc.cluster.local", "8.8.8.2"],
];

Deno.test("find(): mesh names, with search domain, by wildcard, and other names", () => {
  for (const [name, expected] of A_CASES) assert.equal(ask(name), expected, name);
});

Deno.test("find(): a mesh name without addresses of a family has an empty answer", () => {
  assert.equal(ask("dual.localhost", 28), V6);
  assert.equal(ask("ipv6.localhost", 28), V6);
  assert.equal(ask("ipv4.localhost", 28), "");
  assert.equal(ask("mapped.localhost", 28), "");
  assert.equal(ask("foo.wildcard", 28), "");
  assert.equal(ask("www.bing.com", 28), undefined);
});

Deno.test("find(): other types are forwarded, also for mesh names", () => {
  assert.equal(ask("www.google.com", 16), undefined);
  assert.equal(ask("productpage", 16), undefined);
});

Deno.test("find(): without a search domain no name is expanded; the root is not a mesh name", () => {
  assert.equal(find(LOOKUP, undefined, wireName("www.google.com.ns1.svc.cluster.local") ?? "", 1), undefined);
  assert.equal(find(LOOKUP, SEARCH, "\0", 1), undefined);
  assert.equal(find(LOOKUP, SEARCH, SEARCH ?? "", 1), undefined);
});

Deno.test("buildLookup(): without a domain services are known by full name only", () => {
  const lookup = buildLookup(Object.entries(TABLE), { namespace: "", domain: "" });
  assert.notEqual(find(lookup, undefined, wireName("productpage.ns1.svc.cluster.local") ?? "", 1), undefined);
  assert.equal(find(lookup, undefined, wireName("productpage.ns1") ?? "", 1), undefined);
});

Deno.test("buildLookup(): for a name of several hosts, the full host name wins, then Kubernetes, then name order", () => {
  const around = { namespace: "ns1", domain: "ns1.svc.cluster.local" };
  const entries: [string, NameInfo][] = [
    ["a.ns1", external("1.0.0.1")],
    ["a.ns1.svc.cluster.local", service("a", "ns1", "1.0.0.2")],
    ["b.ns1.svc.cluster.local", service("same", "ns1", "1.0.0.3")],
    ["c.ns1.svc.cluster.local", service("same", "ns1", "1.0.0.4")],
    ["Twice.example", external("1.0.0.5")],
    ["twice.example", { ...external("1.0.0.6"), registry: "Kubernetes" }],
  ];
  for (const order of [entries, entries.toReversed()]) {
    const lookup = buildLookup(order, around);
    const first = (name: string) =>
      shown(bytesOfBinary(find(lookup, undefined, wireName(name) ?? "", 1)?.addresses ?? ""));
    assert.deepEqual(["a.ns1", "same", "twice.example"].map(first), ["1.0.0.1", "1.0.0.3", "1.0.0.6"]);
  }
});
