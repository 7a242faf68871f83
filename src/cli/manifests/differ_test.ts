import assert from "node:assert/strict";
import { fakeWorld } from "../../../test/support/fake_world.ts";
import type { RunResult } from "../../platform/world.ts";
import { splitText } from "../../yaml/mod.ts";
import { differ } from "./differ.ts";

async function external(result: Partial<RunResult>, env: Record<string, string> = {}) {
  const world = fakeWorld({ env, run: () => ({ code: 0, stdout: "", stderr: "", timedOut: false, ...result }) });
  const diff = await differ(world, "external");
  for (const document of splitText("a: 1\n---\nb: 2\n", "dir/web app.yaml")) diff.add(document, "new: 1\n");
  const differs = await diff.end();
  return { world, differs };
}

Deno.test("an external program compares two folders with a file for each document", async () => {
  const { world, differs } = await external({ code: 1, stdout: "told\n" }, {
    KUBECTL_EXTERNAL_DIFF: "my-diff  --long",
  });
  assert.ok(differs);
  assert.equal(world.said.stdout, "told\n");
  const [{ command, args } = { command: "" }] = world.runs;
  assert.deepEqual([command, args], ["my-diff", ["--long", "/tmp/mesh/before", "/tmp/mesh/after"]]);
  assert.equal(await world.files.readText("/tmp/mesh/before/0002-dir_web_app.yaml-2.yaml"), "b: 2\n");
  assert.equal(await world.files.readText("/tmp/mesh/after/0002-dir_web_app.yaml-2.yaml"), "new: 1\n");
});

Deno.test("diff is the default program, and exit code 0 means no difference", async () => {
  const { world, differs } = await external({});
  assert.equal(differs, false);
  assert.deepEqual(world.runs[0]?.args?.slice(0, 2), ["-u", "-N"]);
});

Deno.test("a program that fails or is missing is an error with code 2", async () => {
  await assert.rejects(external({ code: 2, stderr: "bad\n" }), {
    message: 'Cannot compare with "diff": bad',
    exitCode: 2,
  });
  await assert.rejects(external({ code: 127 }), { message: 'Cannot compare with "diff": it is not on PATH' });
});
