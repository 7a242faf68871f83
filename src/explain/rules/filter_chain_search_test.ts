import assert from "node:assert/strict";
import { readListener } from "../envoy/listener.ts";
import { filterChainFor, type Properties } from "./filter_chain_search.ts";

/** A listener whose chains have these matches, by name. */
function listener(matches: Readonly<Record<string, Record<string, unknown>>>, hasDefault = false) {
  const chains = Object.entries(matches).map(([name, filter_chain_match]) => ({
    name,
    filter_chain_match,
    filters: [],
  }));
  const more = hasDefault ? { default_filter_chain: { name: "default", filters: [] } } : {};
  return readListener(JSON.parse(JSON.stringify({ name: "l", filter_chains: chains, ...more })));
}

const PLAIN: Properties = {
  destination: "10.0.0.1",
  port: 80,
  serverName: "",
  transportProtocol: "raw_buffer",
  applicationProtocols: [],
  source: "10.9.9.9",
  isLocal: false,
};

const block = (address_prefix: string, prefix_len: number) => ({ address_prefix, prefix_len });

/** A name, the matches of the chains, the connection, and the expected chain. */
const CASES: readonly (readonly [string, Record<string, Record<string, unknown>>, Partial<Properties>, string])[] = [
  ["a port wins over any", { any: {}, port: { destination_port: 80 } }, {}, "port"],
  ["another port is not taken", { any: {}, port: { destination_port: 81 } }, {}, "any"],
  [
    "no way back from a port",
    { any: {}, port: { destination_port: 80, transport_protocol: "tls" } },
    {},
    "none: transport protocol",
  ],
  [
    "the longest block",
    { wide: { prefix_ranges: [block("10.0.0.0", 8)] }, near: { prefix_ranges: [block("10.0.0.0", 24)] }, any: {} },
    {},
    "near",
  ],
  ["no block holds it", { near: { prefix_ranges: [block("10.1.0.0", 24)] } }, {}, "none: destination address"],
  [
    "an unknown address matches no block",
    { near: { prefix_ranges: [block("10.0.0.0", 8)] }, any: {} },
    { destination: undefined },
    "any",
  ],
  [
    "the exact server name",
    { wild: { server_names: ["*.b.c"] }, exact: { server_names: ["a.b.c"] } },
    { serverName: "a.b.c" },
    "exact",
  ],
  [
    "the longest wildcard",
    { far: { server_names: ["*.c"] }, near: { server_names: ["*.b.c"] } },
    { serverName: "x.a.b.c" },
    "near",
  ],
  [
    "a wildcard is not its own parent",
    { near: { server_names: ["*.b.c"] } },
    { serverName: "b.c" },
    "none: server name",
  ],
  ["no name", { near: { server_names: ["a"] }, any: {} }, {}, "any"],
  [
    "the order of the client's protocols",
    { h1: { application_protocols: ["http/1.1"] }, istio: { application_protocols: ["istio"] } },
    { applicationProtocols: ["istio", "http/1.1"] },
    "istio",
  ],
  [
    "a local client",
    { near: { source_type: "SAME_IP_OR_LOOPBACK" }, far: { source_type: "EXTERNAL" } },
    { isLocal: true },
    "near",
  ],
  ["a client from outside", { near: { source_type: "SAME_IP_OR_LOOPBACK" }, any: {} }, {}, "any"],
  ["source block", { any: {}, near: { source_prefix_ranges: [block("10.9.0.0", 16)] } }, {}, "near"],
  ["an unknown source port", { any: {}, near: { source_ports: [7] } }, {}, "any"],
];

for (const [name, matches, connection, expected] of CASES) {
  Deno.test(`filterChainFor: ${name}`, () => {
    const { chain, unmet } = filterChainFor(listener(matches), { ...PLAIN, ...connection });
    assert.equal(chain?.name ?? `none: ${unmet}`, expected);
  });
}

Deno.test("filterChainFor: the default chain takes what no chain matches", () => {
  const choice = filterChainFor(listener({ port: { destination_port: 81 } }, true), PLAIN);
  assert.deepEqual([choice.chain?.name, choice.isDefault], ["default", true]);
});
