/** The command of `wait` keeps the terminal. */
import assert from "node:assert/strict";
import { MESH_COMMAND } from "../../support/programs/mesh.ts";
import { needsProgram, testWhen } from "../../support/test_when.ts";
import { standIn } from "./support/server.ts";

const missing = Deno.build.os === "linux" ? needsProgram("python3") : "a process becomes another on Linux only";
const DRIVER = decodeURIComponent(new URL("./support/terminal.py", import.meta.url).pathname);

/** Counts the interrupts within half a second of the first. */
const COUNTING = 'n=0; trap "n=\\$((n+1))" INT; test -t 0 && test -t 1 && test -t 2 && echo terminal; echo up; ' +
  "while test $n = 0; do sleep 0.05; done; sleep 0.5; echo interrupts $n; exit 5";

async function onTerminal(...argv: string[]): Promise<string> {
  const args = [DRIVER, MESH_COMMAND, ...argv, "--", "sh", "-c", COUNTING];
  const { stdout } = await new Deno.Command("python3", { args, stdin: "null" }).output();
  return new TextDecoder().decode(stdout);
}

testWhen(missing, "the command has the terminal and gets Ctrl-C", async () => {
  await using proxy = standIn(() => 200);
  assert.equal(await onTerminal("wait", "--url", proxy.url), "terminal\nup\n^Cinterrupts 1\ncode 5\n");
});

testWhen(missing, "with --shutdown the command gets one Ctrl-C, not two, and the proxy is asked to quit", async () => {
  await using proxy = standIn(() => 200);
  const argv = ["wait", "--url", `${proxy.url}/ready`, "--shutdown", "--quit-url", `${proxy.url}/quit`];
  assert.equal(await onTerminal(...argv), "terminal\nup\n^Cinterrupts 1\ncode 5\n");
  assert.deepEqual(proxy.requests, ["GET /ready", "POST /quit"]);
});
