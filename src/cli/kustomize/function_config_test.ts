import assert from "node:assert/strict";
import type { Value } from "../../base/value.ts";
import { readFunctionConfig } from "./function_config.ts";

const record = (spec: Value): Value => ({ apiVersion: "kubectl-mesh/v1", kind: "Inject", spec });

function problems(config: Value): readonly string[] {
  const read = readFunctionConfig(config);
  return "spec" in read ? [] : read.map(({ message }) => message);
}

function specOf(config: Value) {
  const read = readFunctionConfig(config);
  return "spec" in read ? read.spec : assert.fail(JSON.stringify(read));
}

Deno.test("readFunctionConfig() takes no record, one without spec, and one with content in place of files", () => {
  assert.deepEqual(specOf(null), {});
  assert.deepEqual(specOf({ apiVersion: "kubectl-mesh/v1", kind: "Inject", metadata: { name: "a" } }), {});
  const spec = { injectConfig: "a.yaml", values: { global: { hub: "h" } }, cni: true, manifests: ["web.yaml"] };
  assert.deepEqual(specOf(record(spec)), spec);
});

Deno.test("readFunctionConfig() reads the texts of a ConfigMap", () => {
  const data = { cni: "true", nativeSidecars: "false", manifests: "a.yaml, b.yaml", revision: "true" };
  const spec = { cni: true, nativeSidecars: false, manifests: ["a.yaml", "b.yaml"], revision: "true" };
  assert.deepEqual(specOf({ apiVersion: "v1", kind: "ConfigMap", data }), spec);
  assert.deepEqual(problems({ apiVersion: "v1", kind: "ConfigMap", data: { cni: "yes", revison: "a" } }), [
    '"data.cni" must be true or false',
    'the key "data.revison" is unknown: did you mean "revision"?',
  ]);
});

Deno.test("readFunctionConfig() names each wrong field, and suggests the correct key", () => {
  const rows: readonly [Value, string][] = [
    [[], "it must be a mapping"],
    [record("a"), '"spec" must be a mapping'],
    [record({ values: 1 }), '"spec.values" must be the name of a file, or a mapping'],
    [record({ templatePath: "A=b" }), '"spec.templatePath" must be a list of KIND=PATH'],
    [record({ tag: "a b" }), '"spec.tag" cannot be "a b": use up to 128 letters, digits, _, . and -, such as 1.20.8'],
    [
      record({ revision: "Bad" }),
      '"spec.revision" cannot be "Bad": use up to 63 lower-case letters, digits and inner hyphens',
    ],
    [record({ vlaues: {} }), 'the key "spec.vlaues" is unknown: did you mean "values"?'],
    [record({ somethingElse: {} }), 'the key "spec.somethingElse" is unknown'],
  ];
  for (const [config, message] of rows) assert.deepEqual(problems(config), [message]);
  const names = ["-", "http://a", ""].map((name) => problems(record({ manifests: [name] })).join());
  for (const message of names) assert.match(message, /^"spec\.manifests\[0\]" must be the name of a file or folder/);
});
