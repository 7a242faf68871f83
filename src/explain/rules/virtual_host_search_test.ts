import assert from "node:assert/strict";
import { readRouteConfig } from "../envoy/route_config.ts";
import { virtualHostFor, withoutPort } from "./virtual_host_search.ts";

const CONFIG = {
  virtual_hosts: [
    { name: "any", domains: ["*"] },
    { name: "suffix", domains: ["*.example.com"] },
    { name: "longer", domains: ["*.a.example.com"] },
    { name: "dashed", domains: ["*-b.example.com"] },
    { name: "prefix", domains: ["www.*"] },
    { name: "exact", domains: ["www.example.com", "UPPER.example.com"] },
    { name: "port", domains: ["ported:8080"] },
  ],
};

const CASES: readonly (readonly [authority: string, host: string])[] = [
  ["www.example.com", "exact"],
  ["WWW.Example.com", "exact"],
  ["upper.example.com", "exact"],
  ["x.example.com", "suffix"],
  ["x.a.example.com", "longer"],
  ["x-b.example.com", "dashed"],
  [".example.com", "any"],
  ["example.com", "any"],
  ["www.other", "prefix"],
  ["www.", "any"],
  ["ported:8080", "port"],
  ["ported", "any"],
  ["www.example.com:80", "prefix"],
];

for (const [authority, expected] of CASES) {
  Deno.test(`virtualHostFor: ${authority} is of ${expected}`, () => {
    assert.equal(virtualHostFor(readRouteConfig(CONFIG), authority)?.host.name, expected);
  });
}

Deno.test("virtualHostFor: without ports, and without any host", () => {
  const config = readRouteConfig({ ...CONFIG, ignore_port_in_host_matching: true });
  assert.equal(virtualHostFor(config, "www.example.com:80")?.host.name, "exact");
  assert.equal(virtualHostFor(readRouteConfig({ virtual_hosts: [] }), "x"), undefined);
});

Deno.test("withoutPort: names, addresses and brackets", () => {
  const texts = ["a:80", "a", "10.0.0.1:80", "[2001:db8::1]:80", "[2001:db8::1]", "2001:db8::1", "a:b"];
  assert.deepEqual(texts.map(withoutPort), [
    "a",
    "a",
    "10.0.0.1",
    "[2001:db8::1]",
    "[2001:db8::1]",
    "2001:db8::1",
    "a:b",
  ]);
});
