import assert from "node:assert/strict";
import type { ValueMap } from "../../../base/value.ts";
import { statsSettings } from "./stats.ts";

function read(proxyConfig: ValueMap, annotations: Record<string, string> = {}, exitOnZero = false) {
  const warnings: string[] = [];
  const named = Object.entries(annotations).map(([key, text]): [string, string] => [`sidecar.istio.io/${key}`, text]);
  const sources = { proxyConfig, annotations: new Map(named), addresses: ["10.0.0.5", "fd00::5"], exitOnZero };
  return { ...statsSettings(sources, warnings), warnings };
}

Deno.test("statsSettings: required patterns follow the configured ones", () => {
  assert.deepEqual(read({}).suffixes, ["rbac.allowed", "rbac.denied", "shadow_allowed", "shadow_denied"]);
  assert.equal(read({}, {}, true).suffixes.at(-1), "downstream_cx_active");
  assert.equal(read({ proxyStatsMatcher: { inclusionRegexps: ["a.*"] } }).regexps[0], "a.*");
});

Deno.test("statsSettings: an annotation replaces the configured list, unless it is empty", () => {
  const config = { proxyStatsMatcher: { inclusionPrefixes: ["p"] } };
  assert.deepEqual(read(config, { statsInclusionPrefixes: "a,b" }).prefixes.slice(0, 3), ["a", "b", "cluster_manager"]);
  assert.equal(read(config, { statsInclusionPrefixes: "" }).prefixes[0], "p");
});

Deno.test("statsSettings: {pod_ip} expands to each address, whatever characters it has", () => {
  assert.deepEqual(read({}, { statsInclusionPrefixes: "http.{pod_ip}_$&" }).prefixes.slice(0, 2), [
    "http.10.0.0.5_$&",
    "http.fd00::5_$&",
  ]);
});

Deno.test("statsSettings: tags of configuration and annotation, without duplicates", () => {
  assert.deepEqual(read({ extraStatTags: ["a", "", "b", "a"] }, { extraStatTags: "b,c,," }).extraTags, ["a", "b", "c"]);
});

Deno.test("statsSettings: buckets by prefix; invalid ones are ignored", () => {
  assert.deepEqual(read({}, { statsHistogramBuckets: '{"z":[1,2.5],"a":[]}' }).histogramBuckets, [
    { prefix: "a", buckets: [] },
    { prefix: "z", buckets: [1, 2.5] },
  ]);
  for (const bad of ["{", "[]", '"x"', '{"a":1}', '{"a":["1"]}']) {
    const { histogramBuckets, warnings } = read({}, { statsHistogramBuckets: bad });
    assert.deepEqual([histogramBuckets, warnings.length], [[], 1], bad);
  }
});

Deno.test("statsSettings: intervals in Envoy's format; eviction at a multiple of the flush", () => {
  const read2 = (flush: string | undefined, eviction: string) => {
    const flushed: Record<string, string> = flush === undefined ? {} : { statsFlushInterval: flush };
    const { flushInterval, evictionInterval, warnings } = read({}, { ...flushed, statsEvictionInterval: eviction });
    return [flushInterval, evictionInterval, warnings.length];
  };
  assert.deepEqual(read2("10s", "30s"), ["10s", "30s", 0]);
  assert.deepEqual(read2(undefined, "20s"), ["", "20s", 0]);
  assert.deepEqual(read2(undefined, "7s"), ["", "", 1]);
  assert.deepEqual(read2("1m30s", "3m"), ["90s", "180s", 0]);
  assert.deepEqual(read2("500ms", "1s"), ["0.5s", "1s", 0]);
  assert.deepEqual(read2("often", "10s"), ["", "10s", 1]);
  assert.deepEqual(read2("10s", "seldom"), ["10s", "", 1]);
  assert.deepEqual(read2("0s", "10s"), ["", "10s", 1]);
});

Deno.test("statsSettings: compression unless switched off", () => {
  assert.equal(read({}).compression, true);
  assert.equal(read({ statsCompression: false }).compression, false);
});
