/** Fuzzes Envoy's configuration dump: `explain` reads it and follows a connection through it. */
import type { PartName } from "../../../src/explain/snapshot/snapshot.ts";
import { snapshotOf } from "../../../src/explain/snapshot/manifest.ts";
import { answerOf } from "../../../src/explain/answer.ts";
import type { Connection } from "../../../src/explain/question/question.ts";
import { withoutSecrets } from "../../../src/explain/snapshot/redact.ts";
import seeds from "../seeds/config_dump.json" with { type: "json" };
import { type FuzzReader, holds, textOf } from "../reader.ts";
import { JSON_WORDS } from "./words.ts";

const TYPE = "type.googleapis.com/envoy.admin.v3.";
const SECTIONS = [
  { name: "ListenersConfigDump", field: "dynamic_listeners", resources: seeds.listeners.map(textOfJson) },
  { name: "RoutesConfigDump", field: "dynamic_route_configs", resources: seeds.routes.map(textOfJson) },
  { name: "ClustersConfigDump", field: "dynamic_active_clusters", resources: seeds.clusters.map(textOfJson) },
  { name: "EndpointsConfigDump", field: "dynamic_endpoint_configs", resources: seeds.endpoints.map(textOfJson) },
];

function textOfJson(value: unknown): string {
  return JSON.stringify(value);
}

const outbound = {
  direction: "outbound",
  port: 9080,
  spoken: "http",
  method: "GET",
  headers: [],
  sni: undefined,
} as const;
const CONNECTIONS: readonly Connection[] = [
  { ...outbound, host: "reviews", path: "/reviews/0?a=b", headers: [{ name: "end-user", value: "x" }] },
  { ...outbound, host: "10.96.1.8", port: 8443, spoken: "tls", path: "/", sni: "secure.default.svc.cluster.local" },
  { ...outbound, direction: "inbound", host: "10.244.0.9", port: 8080, path: "/" },
];

/** Adds a resource to the dump, as the first one of its section. */
function dumpWith(section: number, resource: string): string {
  const configs = SECTIONS.map(({ name, field, resources }, index) => {
    const all = index === section ? [resource, ...resources] : resources;
    return `{"@type":"${TYPE}${name}","${field}":[${all.join(",")}]}`;
  });
  return `{"configs":[${configs.join(",")}]}`;
}

export const CONFIG_DUMP: FuzzReader = {
  name: "config-dump",
  // The first byte selects the section of the resource.
  seeds: SECTIONS.flatMap(({ resources }, index) => resources.map((text) => `${String.fromCharCode(index)}${text}`)),
  words: [
    ...JSON_WORDS,
    ...'"route":{"cluster":"x"}|"match":{"prefix":"/"}|"safe_regex":{"regex":"(a+)+$"}|"weighted_clusters":{"clusters":[]}|"filter_chain_match":{}|"prefix_ranges":[{"address_prefix":"::","prefix_len":0}]|"domains":["*"]|"typed_config":{"@type":"x"}|"lb_endpoints":[]|"health_status":"UNHEALTHY"|"redirect":{}|"direct_response":{"status":503}|"denominator":"HUNDRED"|"10s"|"principals":[{"any":true}]|"permissions":[{"not_rule":{}}]'
      .split("|"),
  ],
  open: () => async (input) => {
    const text = dumpWith((input[0] ?? 0) % SECTIONS.length, textOf(input.subarray(1)));
    const snapshot = snapshotOf(new Map<PartName, { text: string }>([["config_dump.json", { text }]]), "fuzz");
    for (const connection of CONNECTIONS) {
      const answer = await answerOf(snapshot, connection);
      holds(JSON.stringify(answer).length > 0, "an answer cannot be printed");
    }
    withoutSecrets("config_dump.json", text);
    return isJson(text);
  },
};

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
