import assert from "node:assert/strict";
import { BUILT_IN } from "../default/mod.ts";
import { newInjector } from "../injector.ts";
import { configurationOf, showConfiguration } from "./sources.ts";
import { fileWarningText, unknownKeys } from "./unknown_keys.ts";

function warningsOf(values: string, mesh: string, config: string = BUILT_IN.config): readonly string[] {
  const given = { values: { text: values, file: "v.yaml" }, mesh: { text: mesh, file: "m.yaml" } };
  const source = { text: config, file: "c.yaml" };
  const injector = newInjector({
    ...given,
    config: source,
    byHand: true,
    env: () => undefined,
    now: () => new Date(0),
  });
  return unknownKeys(given, injector, { config: source, values: given.values }).map(fileWarningText);
}

Deno.test("unknownKeys() names unknown values and the name that is meant", () => {
  assert.deepEqual(warningsOf("global: {proxy: {loglevels: debug}, hubb: x}\nfrobnicate: 1", ""), [
    'v.yaml: The key "frobnicate" is unknown and has no effect',
    'v.yaml: The key "global.hubb" is unknown and has no effect: did you mean "hub"?',
    'v.yaml: The key "global.proxy.loglevels" is unknown and has no effect: did you mean "logLevel"?',
  ]);
});

Deno.test("unknownKeys() names unknown fields of the mesh configuration, at any depth", () => {
  const mesh =
    "accessLogFiles: /dev/stdout\ndefaultConfig: {concurency: 2, tracing: {zipkin: {address: 'a:1'}, samplin: 1}}\nrootNamespace: a";
  assert.deepEqual(warningsOf("", mesh), [
    'm.yaml: The key "defaultConfig.concurency" is unknown and has no effect: did you mean "concurrency"?',
    'm.yaml: The key "defaultConfig.tracing.samplin" is unknown and has no effect: did you mean "sampling"?',
    'm.yaml: The key "accessLogFiles" is unknown and has no effect: did you mean "accessLogFile"?',
  ]);
});

Deno.test("unknownKeys() warns of a whole configuration as mesh configuration, unless its other parts are used too", () => {
  const whole = showConfiguration(configurationOf({}));
  const mesh = { text: whole, file: "injector.yaml" };
  const of = (config?: typeof mesh) => {
    const used = configurationOf({ config, mesh });
    const injector = newInjector({ ...used, byHand: true, env: () => undefined, now: () => new Date(0) });
    return unknownKeys({ config, mesh }, injector, used).map(fileWarningText);
  };
  assert.deepEqual(of(), [
    'injector.yaml: Only its key "mesh" is used; "config" and "values" have no effect: give the file with --inject-config',
  ]);
  assert.deepEqual(of(mesh), []);
});

Deno.test("unknownKeys() knows the built-in values, and what a template reads", () => {
  assert.deepEqual(warningsOf(BUILT_IN.values, BUILT_IN.mesh), []);
  const config = "templates: {sidecar: 'spec: {nodeName: {{ .Values.mine }}}'}";
  assert.deepEqual(warningsOf("mine: a", "", config), []);
});
