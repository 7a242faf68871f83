import assert from "node:assert/strict";
import { fakeWorld } from "../../test/support/fake_world.ts";
import { fakeSnapshot } from "./connection/fake_snapshot_test.ts";
import { explainPods } from "./run_pod.ts";

Deno.test("short output: a problem too long for the pod's row is shown below the row", async () => {
  const parts = Object.entries(fakeSnapshot().parts).filter(([name]) => name === "pod.json");
  const files = Object.fromEntries(parts.map(([name, { text = "" }]) => [`/saved/${name}`, text]));
  const world = fakeWorld({ files, terminal: true, env: { COLUMNS: "60" } });
  const source = { kind: "file", paths: ["/saved"], pod: undefined } as const;
  await explainPods(world, { source, connection: undefined, output: "short", isOneEnd: false });
  assert.match(world.said.stdout, /^POD.*READY\n {4}PROBLEM\n\S+ .*\n {4}\S/);
  assert.deepEqual(world.said.stdout.split("\n").filter((line) => line.length > 60), []);
});
