import assert from "node:assert/strict";
import { parseYaml } from "../core/yaml/mod.ts";
import { indentFlow } from "./flow_indent.ts";

Deno.test("indentFlow: a bracket may close at the column of its key", () => {
  const text = "metadata:\n  annotations: {\n    a: \"}\",\n  # ]\n  b: '{',\n  }\nspec: {}\n";
  assert.deepEqual(
    JSON.stringify(parseYaml(indentFlow(text))),
    '{"metadata":{"annotations":{"a":"}","b":"{"}},"spec":{}}',
  );
});

Deno.test("indentFlow: block scalars are text", () => {
  const text = "a:\n- |-\n  {\n  x\n- value: |\n    [\n    ]\n  b: [\n]\n";
  assert.equal(JSON.stringify(parseYaml(indentFlow(text))), '{"a":["{\\nx",{"value":"[\\n]\\n","b":[]}]}');
});
