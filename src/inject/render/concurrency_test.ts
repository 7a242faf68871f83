import assert from "node:assert/strict";
import { isMap, mapAt } from "../../base/value.ts";
import { parseYaml } from "../../yaml/mod.ts";
import { estimatedConcurrency } from "./concurrency.ts";

const CASES: readonly (readonly [text: string, threads: number])[] = [
  ["{}", 2],
  ["proxy: {concurrency: 4}", 4],
  ["proxy: {concurrency: 0}", 2],
  [
    "{proxy: {concurrency: 0}, annotations: {sidecar.istio.io/proxyCPULimit: 2500m, sidecar.istio.io/proxyCPU: '1'}}",
    3,
  ],
  ["{proxy: {concurrency: 0}, annotations: {sidecar.istio.io/proxyCPU: 100m}, limits: {cpu: '8'}}", 1],
  ["{proxy: {concurrency: 0}, annotations: {sidecar.istio.io/proxyCPU: many}, limits: {cpu: '8'}}", 2],
  ["{proxy: {concurrency: 0}, limits: {cpu: '8'}, requests: {cpu: '1'}}", 8],
  ["{proxy: {concurrency: 0}, requests: {cpu: 1100m}}", 2],
];

for (const [text, threads] of CASES) {
  Deno.test(`estimatedConcurrency: ${text} is ${threads}`, () => {
    const given = parseYaml(text);
    assert.ok(isMap(given));
    const resources = { limits: mapAt(given, "limits"), requests: mapAt(given, "requests") };
    const pod = { metadata: { annotations: mapAt(given, "annotations") } };
    assert.equal(estimatedConcurrency(pod, mapAt(given, "proxy"), { global: { proxy: { resources } } }), threads);
  });
}
