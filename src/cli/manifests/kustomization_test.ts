import assert from "node:assert/strict";
import { fakeWorld } from "../../../test/support/fake_world.ts";
import type { Run, RunResult } from "../../platform/world.ts";
import { main } from "../mod.ts";

const POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {hostNetwork: true, containers: [{name: app}]}\n";

async function built(result: Partial<RunResult>, args = "inject -k overlays/prod", absent: readonly string[] = []) {
  const runs: Run[] = [];
  const answer = ({ command }: Run) => absent.includes(command) ? { code: 127 } : result;
  const run = (run: Run) => (runs.push(run), { code: 0, stdout: "", stderr: "", timedOut: false, ...answer(run) });
  const world = fakeWorld({ run, args: args.split(" ") });
  return { code: await main(world), ...world.said, runs };
}

Deno.test("inject -k injects the kustomization that kubectl builds", async () => {
  const { code, stdout, runs } = await built({ stdout: POD });
  assert.deepEqual([code, stdout], [0, POD]);
  assert.deepEqual(runs, [{ command: "kubectl", args: ["kustomize", "overlays/prod"] }]);
});

Deno.test("inject -k builds with kustomize where there is no kubectl", async () => {
  const { code, stdout, runs } = await built({ stdout: POD }, undefined, ["kubectl"]);
  assert.deepEqual([code, stdout], [0, POD]);
  assert.deepEqual(runs.at(-1), { command: "kustomize", args: ["build", "overlays/prod"] });
});

Deno.test("inject -k reports kubectl's error, or the missing programs", async () => {
  const failed = await built({ code: 1, stderr: "error: no kustomization\n" });
  assert.deepEqual([failed.code, failed.stderr], [
    1,
    'error: Cannot build the kustomization "overlays/prod": no kustomization\n',
  ]);
  const recorded = String
    .raw`E1126 16:34:48.618903   28433 run.go:72] "command failed" err="unable to find \"a\" in 'b'"`;
  assert.match((await built({ code: 1, stderr: `${recorded}\n` })).stderr, /prod": unable to find "a" in 'b'\n$/);
  assert.match((await built({ code: 127 })).stderr, /: neither kubectl nor kustomize is on PATH\n$/);
});

Deno.test("inject -k shows no credentials of a URL", async () => {
  const url = "https://user:secret@host.test/repo?token=secret";
  const { stderr } = await built({ code: 1, stderr: `error: cannot clone '${url}'\n` }, `inject -k ${url}`);
  const shown = "https://host.test/repo?[redacted]";
  assert.equal(stderr, `error: Cannot build the kustomization "${shown}": cannot clone '${shown}'\n`);
});

Deno.test("inject takes either -k or -f", async () => {
  const { code, stderr } = await built({}, "inject -k a -f b");
  assert.equal(code, 2);
  assert.match(stderr, /cannot be combined/);
});
