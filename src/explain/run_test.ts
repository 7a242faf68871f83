import assert from "node:assert/strict";
import { fakeWorld } from "../../test/support/fake_world.ts";
import { fakeSnapshot } from "./connection/fake_snapshot_test.ts";
import { explain } from "./run.ts";

Deno.test("short output: a terminal shows no line of an answer or a response flag beyond its width", async () => {
  const parts = Object.entries(fakeSnapshot().parts);
  const files = Object.fromEntries(parts.map(([name, { text = "" }]) => [`/saved/${name}`, text]));
  const request = { spoken: "http", method: "GET", path: "/", headers: [], sni: undefined } as const;
  const connection = { direction: "outbound", host: "web", port: 80, ...request } as const;
  const source = { kind: "file", paths: ["/saved"], pod: undefined } as const;
  const question = { source, connection, output: "short", isOneEnd: false, flags: ["UH"] } as const;
  const world = fakeWorld({ files, terminal: true, env: { COLUMNS: "60" } });
  await explain(world, question);
  assert.match(world.said.stdout, /^\S.*\n(?: {4}\S.*\n)* {2}UH: .*\n(?: {4}\S.*\n)+$/);
  assert.deepEqual(world.said.stdout.split("\n").filter((line) => line.length > 60), []);
});
