import assert from "node:assert/strict";
import { readAnswers } from "../../../test/oracle/answers.ts";
import { testShared } from "../../../test/support/test_when.ts";
import { findField, structSchema } from "./schema.ts";

/** A field as Kubernetes' Go types declare it. */
interface DeclaredField {
  readonly json: string;
  readonly go: string;
  readonly type: string;
  readonly always: boolean;
  readonly merges: boolean;
  readonly key: string;
}

function checkTable(table: Readonly<Record<string, readonly DeclaredField[]>>): void {
  for (const [type, fields] of Object.entries(table)) {
    for (const expected of fields) {
      const field = structSchema(type).byJson.get(expected.json);
      assert(field !== undefined, `${type}.${expected.json}`);
      assert.deepEqual(
        [field.go, field.type.text.replace("JSON", "RawExtension"), field.always, field.mergesList, field.mergeKey],
        [
          expected.go,
          expected.type.replace("FieldsV1", "RawExtension"),
          expected.always,
          expected.merges,
          expected.key,
        ],
        `${type}.${expected.json}`,
      );
    }
  }
}

Deno.test("structSchema: has every field of Kubernetes' Go types, which test/oracle/kube recorded", async () => {
  const answers = await readAnswers<{ result: Record<string, DeclaredField[]> }>(
    new URL("../testdata/schema.jsonl.gz", import.meta.url),
  );
  assert(answers.length === 8);
  for (const { result } of answers) checkTable(result);
});

/** Newer Kubernetes types differ here, in a status that no injector reads. */
const CHANGED_SINCE = [
  "NodeAllocatableResourceClaimStatus.resources",
  "PodStatus.nodeAllocatableResourceClaimStatuses",
];

interface SharedField {
  readonly Name: string;
  readonly GoName: string;
  readonly Type: string;
  readonly Always?: string;
  readonly PatchStrategy?: string;
  readonly PatchMergeKey?: string;
}

testShared("cases/inject/k8s-schema.json", "structSchema: has every field of the shared table", (file) => {
  const table: Record<string, SharedField[]> = JSON.parse(Deno.readTextFileSync(file));
  for (const [type, fields] of Object.entries(table)) {
    const kept = fields.filter(({ Name }) => !CHANGED_SINCE.includes(`${type}.${Name}`));
    checkTable({
      [type]: kept.map(({ Name, GoName, Type, Always, PatchStrategy, PatchMergeKey = "" }) => ({
        json: Name,
        go: GoName,
        type: Type,
        always: Always !== undefined,
        merges: PatchStrategy?.split(",").includes("merge") ?? false,
        key: PatchMergeKey,
      })),
    });
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
