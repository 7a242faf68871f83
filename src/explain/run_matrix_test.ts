import assert from "node:assert/strict";
import { fakeWorld } from "../../test/support/fake_world.ts";
import { fakeSnapshot } from "./connection/fake_snapshot_test.ts";
import { endsOf, explainMatrix } from "./run_matrix.ts";
import { savedEnds } from "./sources/saved_ends.ts";

Deno.test("a matrix without any Service is an error, and not well", async () => {
  const text = fakeSnapshot().parts["config_dump.json"].text ?? "";
  // A lone dump does not say its namespace.
  const world = fakeWorld({ files: { "dump.json": text } });
  const source = { kind: "file", paths: ["dump.json"], pod: undefined } as const;
  await assert.rejects(explainMatrix(world, { source, connection: undefined, output: "table", isOneEnd: false }), {
    message: "The proxies of these pods do not know any Service in the pods' namespaces",
  });
  assert.equal(world.said.stdout, "");
});

Deno.test("the pods of a matrix are of one cluster, also if the first has no proxy", () => {
  const saved = savedEnds(new Map());
  const live = { ...saved, isOneCluster: true };
  const sender = () => Promise.resolve("none");
  assert.equal(endsOf([{ sender: undefined, ends: live }, { sender, ends: live }], saved).isOneCluster, true);
  assert.equal(endsOf([{ sender: undefined, ends: undefined }], saved).isOneCluster, false);
});
