import assert from "node:assert/strict";
import { MeshError } from "../../base/errors.ts";
import { checkValues, parseValues } from "./values.ts";

const WRONG: readonly (readonly [string, string])[] = [
  ["global: {hub: 1}", '"global.hub" must be a string'],
  ["global: {hub: [a]}", '"global.hub" must be a string'],
  ["global: {network: 5}", '"global.network" must be a string'],
  ["global: {multiCluster: {clusterName: true}}", '"global.multiCluster.clusterName" must be a string'],
  ["global: {proxy: {privileged: 'true'}}", '"global.proxy.privileged" must be true or false'],
  [
    "sidecarInjectorWebhook: {rewriteAppHTTPProbe: 'true'}",
    '"sidecarInjectorWebhook.rewriteAppHTTPProbe" must be true or false',
  ],
  ["global: {proxy: {statusPort: abc}}", '"global.proxy.statusPort" must be a whole number'],
  ["global: {proxy: {statusPort: 1.5}}", '"global.proxy.statusPort" must be a whole number'],
  ["global: {imagePullSecrets: a}", '"global.imagePullSecrets" must be a list'],
  ["global: text", '"global" must be a mapping'],
  ["global: {hub: 1, variant: 2}", '"global.hub" must be a string; "global.variant" must be a string'],
];

for (const [text, problem] of WRONG) {
  Deno.test(`checkValues: ${text} does not fit`, () => {
    assert.throws(() => checkValues(parseValues(text, "values.yaml"), "values.yaml"), (error) => {
      return error instanceof MeshError && error.message === `Invalid values: ${problem}` &&
        error.place?.file === "values.yaml";
    });
  });
}

const RIGHT = [
  "",
  "global: null",
  "global: {tag: 1.10, hub: h}",
  "global: {proxy: {statusPort: '15020', privileged: null, image: x}}",
  "unknown: {a: 1}",
];

for (const text of RIGHT) {
  Deno.test(`checkValues: ${text === "" ? "nothing" : text} fits`, () => {
    assert.doesNotThrow(() => checkValues(parseValues(text, "values.yaml"), "values.yaml"));
  });
}
