import assert from "node:assert/strict";
import { isMap } from "../../base/value.ts";
import { parseYaml } from "../../yaml/mod.ts";
import { decode } from "./decode.ts";

Deno.test("decode: every value of a wrong type is reported with its path", () => {
  const { problems } = decode(
    parseYaml(
      `{spec: {replicas: three, template: {metadata: {labels: {a.b/c: [x]}}, spec: {containers: [{name: {}, ports: [1]}]}}}}`,
    ),
    "Deployment",
  );
  assert.deepEqual(problems, [
    { field: "spec.replicas", expected: "int32", got: `string "three"` },
    { field: `spec.template.metadata.labels["a.b/c"]`, expected: "string", got: "a list" },
    { field: "spec.template.spec.containers[0].name", expected: "string", got: "a mapping" },
    { field: "spec.template.spec.containers[0].ports[0]", expected: "a mapping", got: "number 1" },
  ]);
});

Deno.test("decode: unknown fields are dropped, also beside names in another case", () => {
  const { value, problems } = decode(parseYaml(`{Metadata: {Name: a, nope: 1, generation: x}, other: 2}`), "Pod");
  assert.deepEqual(Object.keys(value), ["metadata", "spec", "status"]);
  assert.equal(problems.length, 1);
  assert.equal(JSON.stringify(value["metadata"]), `{"name":"a"}`);
});

Deno.test("decode: the result has the declaration order of the type and inherits nothing", () => {
  const { value } = decode(
    parseYaml(`{status: {}, spec: {restartPolicy: A, containers: []}, metadata: {}, kind: Pod}`),
    "Pod",
  );
  assert.equal(
    JSON.stringify(value),
    `{"kind":"Pod","metadata":{},"spec":{"containers":[],"restartPolicy":"A"},"status":{}}`,
  );
  assert.equal(isMap(value["spec"]) && "constructor" in value["spec"], false);
});

Deno.test("decode: labels with the names of object members are data", () => {
  const { value } = decode(parseYaml(`{metadata: {labels: {__proto__: a, constructor: b}}}`), "Pod");
  assert.equal(JSON.stringify(value["metadata"]), `{"labels":{"__proto__":"a","constructor":"b"}}`);
});

Deno.test("decode: a value that is not a mapping is a problem, null is an empty object", () => {
  assert.equal(decode("text", "Pod").problems.length, 1);
  assert.equal(decode(null, "Pod").problems.length, 0);
});
