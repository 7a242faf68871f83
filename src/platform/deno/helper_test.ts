import assert from "node:assert/strict";
import { MeshError } from "../../base/errors.ts";
import { testWhen } from "../../../test/support/test_when.ts";
import { spawnHelper } from "./helper.ts";

const notLinux = Deno.build.os === "linux" ? undefined : "not Linux";
const bytes = (text: string) => new TextEncoder().encode(text);

testWhen(notLinux, "a helper reads its input in order, and ends with its input", async () => {
  const file = await Deno.makeTempFile();
  const helper = spawnHelper(["-c", `(echo name=$MESH_ARGV0; cat) > ${file}`], ["sh"]);
  for (let line = 0; line < 100; line++) helper.send(bytes(`${line}\n`));
  helper.close();
  assert.deepEqual(await helper.ended, { code: 0, signal: undefined });
  const lines = (await Deno.readTextFile(file)).split("\n");
  assert.deepEqual(lines, ["name=kubectl-mesh", ...Array.from({ length: 100 }, (_, line) => `${line}`), ""]);
  await Deno.remove(file);
});

testWhen(notLinux, "a killed helper resolves `ended`, and bytes sent to it are lost without an error", async () => {
  const helper = spawnHelper([], ["cat"]);
  helper.kill();
  assert.deepEqual(await helper.ended, { code: 137, signal: "SIGKILL" });
  helper.send(bytes("late"));
  helper.close();
  helper.kill();
});

testWhen(notLinux, "a helper that cannot be started is an error", () => {
  assert.throws(
    () => spawnHelper([], ["/nonexistent/program"]),
    (error) => error instanceof MeshError && /^This program cannot be started once more: /.test(error.message),
  );
});
