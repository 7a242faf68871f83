import assert from "node:assert/strict";
import { parseDocument } from "../yaml/mod.ts";
import { configurationOf, injection, newInjector } from "./mod.ts";
import { changeDocument } from "./document/document.ts";

const injector = newInjector({
  ...configurationOf({}),
  nativeSidecars: false,
  byHand: true,
  env: () => undefined,
  now: () => new Date(0),
});

function warningsOf(apiVersion: string, kind: string, more = ""): readonly string[] {
  const text = `{apiVersion: ${apiVersion}, kind: ${kind}, metadata: {name: a}, spec: {template: {spec: {${more}` +
    "containers: [{image: x, name: a}]}}}}";
  return changeDocument(parseDocument({ text }), injection(injector), { output: "yaml" }).entries[0]?.warnings ?? [];
}

Deno.test("injection() warns where Knative refuses the first init containers, and nowhere else", () => {
  const knative = "serving.knative.dev/v1";
  assert.match(
    warningsOf(knative, "Service").join(),
    /^Knative rejects init containers unless .*podspec-init-containers/,
  );
  assert.equal(warningsOf(knative, "Configuration").length, 1);
  assert.deepEqual(warningsOf("apps/v1", "Deployment"), []);
  const own = warningsOf(knative, "Service", "initContainers: [{image: x, name: i}], ");
  assert.deepEqual(own.filter((warning) => warning.startsWith("Knative")), []);
});
