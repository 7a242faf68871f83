/** `wait` as the first process of a container. The kernel drops its unhandled signals. */
import assert from "node:assert/strict";
import { MESH_COMMAND } from "../../support/programs/mesh.ts";
import { needsProgram, testWhen } from "../../support/test_when.ts";
import { until } from "../../support/until.ts";
import { standIn } from "./support/server.ts";

const missing = Deno.uid() === 0 ? needsProgram("unshare") : "namespaces of processes need root";

/** Starts a command as PID 1 of a PID namespace. */
function first(...argv: string[]) {
  const args = ["--pid", "--fork", "--kill-child", "--mount-proc", MESH_COMMAND, ...argv];
  return new Deno.Command("unshare", { args, stdin: "null", stdout: "piped", stderr: "piped" }).spawn();
}

/** The process that unshare started. */
async function childOf(pid: number): Promise<number> {
  const text = await Deno.readTextFile(`/proc/${pid}/task/${pid}/children`);
  return Number(text.trim());
}

testWhen(missing, "as the first process, wait ends on SIGTERM and SIGINT", async () => {
  for (const [signal, code] of [["SIGTERM", 143], ["SIGINT", 130]] as const) {
    await using proxy = standIn(() => 503);
    await using unshared = first("wait", "--url", proxy.url, "--", "echo", "it ran");
    await until(() => proxy.requests.length >= 2);
    Deno.kill(await childOf(unshared.pid), signal);
    const ended = await unshared.output();
    assert.deepEqual([ended.code, new TextDecoder().decode(ended.stdout)], [code, ""]);
  }
});

testWhen(missing, "the command becomes the first process", async () => {
  await using proxy = standIn(() => 200);
  const { code, stdout } = await first("wait", "--url", proxy.url, "--", "sh", "-c", "echo $$; exit 7").output();
  assert.deepEqual([code, new TextDecoder().decode(stdout)], [7, "1\n"]);
});
