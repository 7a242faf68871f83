import assert from "node:assert/strict";
import { fakeWorld } from "../../test/support/fake_world.ts";
import { fakeSnapshot } from "./connection/fake_snapshot_test.ts";
import { endsOf, explainMatrix } from "./run_matrix.ts";
import { savedEnds } from "./sources/sources.ts";

Deno.test("a matrix without any Service is an error, not a success", async () => {
  const text = fakeSnapshot().parts["config_dump.json"].text ?? "";
  // A bare dump does not contain the namespace of its pod.
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

Deno.test("a terminal shows no line of a matrix, a reason or a fix beyond its width", async () => {
  const parts = Object.entries(fakeSnapshot({ endpoints: [] }).parts);
  const files = Object.fromEntries(parts.map(([name, { text = "" }]) => [`/saved/${name}`, text]));
  const world = fakeWorld({ files, terminal: true, env: { COLUMNS: "60" } });
  const source = { kind: "file", paths: ["/saved"], pod: undefined } as const;
  await explainMatrix(world, { source, connection: undefined, output: "table", isOneEnd: false });
  assert.match(world.said.stdout, /^ {2}fix: /m);
  assert.deepEqual(world.said.stdout.split("\n").filter((line) => line.length > 60), []);
});

Deno.test("a matrix of pods that cannot be read says why", async () => {
  const pod = fakeSnapshot().parts["pod.json"].text ?? "";
  const absent = { "config_dump.json": { reason: "not-permitted", message: "no right to pods/exec" } };
  const manifest = {
    schemaVersion: 1,
    pod: { namespace: "shop", name: "web" },
    time: "2026-11-22T18:00:00.000Z",
    absent,
  };
  const world = fakeWorld({ files: { "/saved/pod.json": pod, "/saved/manifest.json": JSON.stringify(manifest) } });
  const source = { kind: "file", paths: ["/saved"], pod: undefined } as const;
  await assert.rejects(explainMatrix(world, { source, connection: undefined, output: "table", isOneEnd: false }), {
    message: "No proxy of these pods can be read: no right to pods/exec",
  });
});
