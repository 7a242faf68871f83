import assert from "node:assert/strict";
import { needsShared, SHARED, testWhen } from "../../../test/support/test_when.ts";
import { findField, structSchema } from "./schema.ts";

interface SharedField {
  readonly Name: string;
  readonly GoName: string;
  readonly Type: string;
  readonly Always?: string;
  readonly PatchStrategy?: string;
  readonly PatchMergeKey?: string;
}

/** Newer Kubernetes types differ here, in a status that no injector reads. */
const CHANGED_SINCE = [
  "NodeAllocatableResourceClaimStatus.resources",
  "PodStatus.nodeAllocatableResourceClaimStatuses",
];

testWhen(needsShared("cases/inject/k8s-schema.json"), "structSchema: has every field of the peer's table", () => {
  const table: Record<string, SharedField[]> = JSON.parse(
    Deno.readTextFileSync(`${SHARED}/cases/inject/k8s-schema.json`),
  );
  for (const [type, fields] of Object.entries(table)) {
    for (const expected of fields) {
      if (CHANGED_SINCE.includes(`${type}.${expected.Name}`)) continue;
      const field = structSchema(type).byJson.get(expected.Name);
      assert(field !== undefined, `${type}.${expected.Name}`);
      const merges = expected.PatchStrategy?.split(",").includes("merge") ?? false;
      assert.deepEqual(
        [field.go, field.type.text.replace("JSON", "RawExtension"), field.always, field.mergesList, field.mergeKey],
        [expected.GoName, expected.Type, expected.Always !== undefined, merges, expected.PatchMergeKey ?? ""],
        `${type}.${expected.Name}`,
      );
    }
  }
});

Deno.test("structSchema: every type that a field refers to is in the table", () => {
  const seen = new Set<string>();
  const visit = (name: string) => {
    if (seen.has(name)) return;
    seen.add(name);
    for (const { type } of structSchema(name).fields) {
      const inner = "element" in type ? type.element : type;
      if (inner.kind === "struct") visit(inner.struct);
    }
  };
  ["Pod", "PodTemplate", "Deployment", "DaemonSet", "ReplicaSet", "StatefulSet", "Job", "CronJob", "List"].forEach(
    visit,
  );
  ["ReplicationController", "openshift.DeploymentConfig"].forEach(visit);
  assert(seen.size > 190, `${seen.size} types`);
});

Deno.test("structSchema: a name that is not in the table is a defect", () => {
  assert.throws(() => structSchema("toString"), /"toString" is not in the schema table/);
});

Deno.test("findField: an equal name first, then one in another case", () => {
  assert.equal(findField(structSchema("PodSpec"), "hostnetwork")?.json, "hostNetwork");
  assert.equal(findField(structSchema("PodSpec"), "nope"), undefined);
});
