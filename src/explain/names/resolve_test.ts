import assert from "node:assert/strict";
import { snapshotOf } from "../snapshot/manifest.ts";
import { podOf } from "../pod.ts";
import { askedNames, nameTableOf, searchOf } from "./resolve.ts";

const SEARCH = { ndots: 5, domains: ["shop.svc.cluster.local", "svc.cluster.local", "cluster.local"] };

Deno.test("askedNames: the search list first below ndots, after it above, and never for a full name", () => {
  assert.deepEqual(askedNames("web", SEARCH), [
    "web.shop.svc.cluster.local",
    "web.svc.cluster.local",
    "web.cluster.local",
    "web",
  ]);
  assert.equal(askedNames("a.b.c.d.e.f", SEARCH)[0], "a.b.c.d.e.f");
  assert.deepEqual(askedNames("Web.example.com.", SEARCH), ["web.example.com"]);
});

Deno.test("searchOf: what the pod's dnsConfig and dnsPolicy add or replace", () => {
  const pod = (spec: object) => podOf(snapshotOf(new Map([["pod.json", { text: JSON.stringify({ spec }) }]]), "x"));
  const config = { options: [{ name: "ndots", value: "2" }], searches: ["corp.example."] };
  assert.deepEqual(searchOf("shop", "cluster.local", pod({ dnsConfig: config })), {
    ndots: 2,
    domains: [...SEARCH.domains, "corp.example"],
  });
  assert.deepEqual(searchOf("shop", "cluster.local", pod({ dnsConfig: config, dnsPolicy: "None" })).domains, [
    "corp.example",
  ]);
  assert.deepEqual(searchOf("shop", "cluster.local", undefined), SEARCH);
});

Deno.test("nameTableOf: exact names, then the longest wildcard", () => {
  const table = {
    "web.shop.svc.cluster.local": { ips: ["10.0.0.1"] },
    "*.example.com": { ips: ["10.0.0.2"] },
    "*.a.example.com": { ips: [] },
  };
  const names = nameTableOf(snapshotOf(new Map([["name_table.json", { text: JSON.stringify({ table }) }]]), "x"));
  assert.deepEqual(names?.find("web.shop.svc.cluster.local")?.addresses, ["10.0.0.1"]);
  assert.equal(names?.find("x.example.com")?.host, "*.example.com");
  assert.equal(names?.find("x.a.example.com")?.host, "*.a.example.com");
  assert.equal(names?.find("example.com"), undefined);
  assert.equal(names?.find("constructor"), undefined);
});
