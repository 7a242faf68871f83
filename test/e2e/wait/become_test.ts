/** `wait -- COMMAND` becomes COMMAND: same process, exit code, signals, streams and environment. */
import assert from "node:assert/strict";
import { MESH_COMMAND, runMesh } from "../../support/programs/mesh.ts";
import { testWhen } from "../../support/test_when.ts";
import { startMesh } from "./support/child.ts";
import { freePort } from "../../support/ports.ts";
import { until } from "../../support/until.ts";
import { standIn } from "./support/server.ts";

const notLinux = Deno.build.os === "linux" ? undefined : "a process becomes another on Linux only";

/** Runs a shell line as the command of a `wait` whose proxy is ready. */
async function behind(line: string, options: { stdin?: string; env?: Record<string, string> } = {}) {
  await using proxy = standIn(() => 200);
  return await runMesh(["wait", "--url", proxy.url, "--", "sh", "-c", line], options);
}

testWhen(notLinux, "the command has the PID of wait, and there is no other process", async () => {
  await using proxy = standIn(() => 200);
  const running = startMesh(["wait", "--url", proxy.url, "--", "sh", "-c", "echo $$; cat /proc/$$/stat"]);
  const { stdout } = await running.end();
  const [pid, stat = ""] = stdout.split("\n");
  assert.equal(Number(pid), running.pid);
  assert.equal(Number(stat.split(" ")[3]), Deno.pid);
});

Deno.test("wait exits with the command's code", async () => {
  for (const code of [0, 1, 2, 77, 126, 255]) assert.equal((await behind(`exit ${code}`)).code, code);
});

testWhen(notLinux, "a signal that ends the command ends wait", async () => {
  await using proxy = standIn(() => 200);
  const { code, signal } = await startMesh(["wait", "--url", proxy.url, "--", "sh", "-c", "kill -9 $$"]).end();
  assert.deepEqual([code, signal], [137, "SIGKILL"]);
});

Deno.test("the command gets streams, environment and arguments", async () => {
  const { code, stdout, stderr } = await behind('cat; echo "$MARK" >&2; exit 3', {
    stdin: "from outside\n",
    env: { MARK: "a value" },
  });
  assert.deepEqual([code, stdout, stderr], [3, "from outside\n", "a value\n"]);
  await using proxy = standIn(() => 200);
  const words = Array.from({ length: 3000 }, (_, index) => `word ${index} é`);
  const printed = await runMesh(["wait", "--url", proxy.url, "--", "printf", "%s\n", ...words]);
  assert.equal(printed.stdout, `${words.join("\n")}\n`);
});

/** Prints masks of the signals 1 to 28; 32 and 33 are the C library's own. */
const MASK = "sed -n 's/^Sig\\(Blk\\|Ign\\|Cgt\\):.*\\(.......\\)$/\\1 \\2/p' /proc/self/status";

/** The output of a shell line. `"$@"` are the given arguments. */
async function shell(line: string, ...argv: string[]): Promise<string> {
  const command = new Deno.Command("sh", { args: ["-c", line, "sh", ...argv], stdin: "null" });
  return new TextDecoder().decode((await command.output()).stdout);
}

testWhen(notLinux, "signal masks and open files are the same as without wait", async () => {
  await using proxy = standIn(() => 200);
  const look = `${MASK}; readlink /proc/self/fd/* | grep -cv '^/proc'; ulimit -c`;
  const expected = await shell(look);
  assert.match(expected, /^Blk [0-9a-f]+\nIgn [0-9a-f]+\nCgt [0-9a-f]+\n\d+\n/);
  assert.equal(await shell('"$@"', MESH_COMMAND, "wait", "--url", proxy.url, "--", "sh", "-c", look), expected);
});

testWhen(notLinux, "ignored signals stay ignored: nohup and background jobs", async () => {
  await using proxy = standIn(() => 200);
  const ignoring = 'trap "" HUP INT; exec "$@"';
  const expected = await shell(ignoring, "sh", "-c", MASK);
  assert.match(expected, /Ign [0-9a-f]*[37bf]\n/);
  assert.equal(await shell(ignoring, MESH_COMMAND, "wait", "--url", proxy.url, "--", "sh", "-c", MASK), expected);
});

testWhen(notLinux, "SIGTERM reaches the command", async () => {
  await using proxy = standIn(() => 200);
  const line = 'trap "echo got it; exit 9" TERM; echo up; while :; do sleep 0.05; done';
  const running = startMesh(["wait", "--url", proxy.url, "--", "sh", "-c", line]);
  await running.says("up\n");
  running.kill("SIGTERM");
  const { code, stdout } = await running.end();
  assert.deepEqual([code, stdout], [9, "up\ngot it\n"]);
});

Deno.test("SIGTERM while waiting gives exit code 143, and the command does not run", async () => {
  await using proxy = standIn(() => 503);
  const running = startMesh(["wait", "--url", proxy.url, "--", "echo", "it ran"]);
  await until(() => proxy.requests.length >= 2);
  running.kill("SIGTERM");
  const { code, stdout } = await running.end();
  assert.deepEqual([code, stdout], [143, ""]);
});

Deno.test("a missing command gives exit code 127, a command that is not executable 126", async () => {
  await using proxy = standIn(() => 200);
  for (const [command, code] of [["no-such-program", 127], ["/etc/passwd", 126], ["/", 126]] as const) {
    for (const flags of [[], ["--shutdown", "--quit-url", `${proxy.url}/quit`]]) {
      const ended = await runMesh(["wait", "--url", proxy.url, ...flags, "--", command]);
      assert.deepEqual([ended.code, ended.stdout], [code, ""]);
      assert.match(ended.stderr, /^error: Cannot run "[^"]+": .*\n$/);
    }
  }
  assert.deepEqual(proxy.requests.filter((request) => request.startsWith("POST")), []);
});

Deno.test("a disabled wait, and a wait that continues after its timeout, run the command", async () => {
  const url = `http://127.0.0.1:${freePort()}/`;
  const disabled = await runMesh(["wait", "--url", url, "--", "sh", "-c", "exit 4"], {
    env: { MESH_WAIT_DISABLED: "yes" },
  });
  assert.equal(disabled.code, 4);
  assert.match(disabled.stderr, /info wait: Not waiting: MESH_WAIT_DISABLED is "yes"\n$/);
  const flags = ["--timeout", "100ms", "--on-timeout", "continue", "--url", url];
  const late = await runMesh(["wait", ...flags, "--", "sh", "-c", "exit 5"]);
  assert.equal(late.code, 5);
  assert.match(late.stderr, /warning wait: The proxy was not ready within 100ms: .*; running the command anyway\n$/);
});
