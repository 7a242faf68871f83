import assert from "node:assert/strict";
import { readScrapeTargets } from "./scrape_targets.ts";

/** Values of ISTIO_PROMETHEUS_ANNOTATIONS (Istio's TestNewServerPrometheusNormalization and more) with their targets. */
const RIGHT = [
  { text: `{"scrape":"true","port":"8080","path":"/metrics"}`, targets: ["8080/metrics"] },
  { text: `{"scrape":"true"}`, targets: ["80/metrics"] },
  { text: `{}`, targets: ["80/metrics"] },
  { text: `{"scrape":"false","port":"15020"}`, targets: [] },
  { text: `{"Scrape":"true","PORT":"08080","path":"x"}`, targets: ["8080/x"] },
  { text: `{"scrape":"true","targets":[{"port":"8080","path":""}]}`, targets: ["8080/metrics"] },
  { text: `{"scrape":"true","targets":[{"port":"8080"}]}`, targets: ["8080/metrics"] },
  {
    text:
      `{"port":"8080","path":"/metrics","targets":[{"port":"8080","path":"/metrics"},{"port":"9100","path":"/custom"}]}`,
    targets: ["8080/metrics", "9100/custom"],
  },
  { text: `{"port":"8080","targets":[{"port":"9100","path":"/custom"}]}`, targets: ["9100/custom"] },
];

for (const { text, targets } of RIGHT) {
  Deno.test(`readScrapeTargets(): ${text}`, () => {
    const found = readScrapeTargets(text, 15020);
    assert.deepEqual(found.problems, []);
    assert.deepEqual(found.targets.map(({ port, path }) => `${port}${path}`), targets);
  });
}

const WRONG = [
  { text: "", problems: ['not a JSON object but ""'] },
  { text: "[]", problems: ['not a JSON object but "[]"'] },
  {
    text: `{"port":"15020"}`,
    problems: ['the port "15020" is the agent\'s own port, so the agent would scrape itself'],
  },
  {
    text: `{"targets":[{"port":"015020"}]}`,
    problems: ['the port "015020" is the agent\'s own port, so the agent would scrape itself'],
  },
  {
    text: `{"targets":[{"port":"15000"}]}`,
    problems: ['the port "15000" is reserved for Istio (Envoy\'s admin interface)'],
  },
  {
    text: `{"targets":[{"port":"015006"}]}`,
    problems: ['the port "015006" is reserved for Istio (captured inbound connections)'],
  },
  {
    text: `{"targets":[{"port":"8080"},{"port":"15090"},{"port":"abc"}]}`,
    problems: [
      'the port "15090" is reserved for Istio (Envoy\'s metrics)',
      'the port "abc" is not a number from 1 to 65535',
    ],
  },
  { text: `{"port":"0"}`, problems: ['the port "0" is not a number from 1 to 65535'] },
  { text: `{"port":"65536"}`, problems: ['the port "65536" is not a number from 1 to 65535'] },
  { text: `{"port":8080}`, problems: ['"port" is not a string'] },
  { text: `{"targets":"8080"}`, problems: ['"targets" is not a list of objects'] },
];

for (const { text, problems } of WRONG) {
  Deno.test(`readScrapeTargets() rejects ${text}`, () => {
    assert.deepEqual(readScrapeTargets(text, 15020).problems, problems);
  });
}

Deno.test("readScrapeTargets() knows a configured status port", () => {
  assert.equal(readScrapeTargets(`{"port":"8020"}`, 8020).problems.length, 1);
  assert.equal(readScrapeTargets(`{"port":"15020"}`, 8020).problems.length, 1);
});
