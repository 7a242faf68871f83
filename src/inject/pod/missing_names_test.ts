import assert from "node:assert/strict";
import { isMap } from "../../core/value.ts";
import { parseYaml } from "../../core/yaml/mod.ts";
import { missingNames } from "./missing_names.ts";

function missing(spec: string): readonly string[] {
  const pod = parseYaml(`spec: ${spec}`);
  return isMap(pod) ? missingNames(pod) : [];
}

Deno.test("missingNames() gives the paths of containers and volumes without a name", () => {
  assert.deepEqual(missing("{containers: [{name: a}, {image: b}], initContainers: [{name: ''}], volumes: [{}]}"), [
    "spec.initContainers[0].name",
    "spec.containers[1].name",
    "spec.volumes[0].name",
  ]);
  assert.deepEqual(missing("{containers: [{name: a}]}"), []);
});
