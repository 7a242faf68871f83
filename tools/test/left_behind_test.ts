import assert from "node:assert/strict";
import { needsNamespaces } from "../../test/e2e/iptables/support/pod.ts";
import { testWhen } from "../../test/support/test_when.ts";
import { killLeftBehind, removeNamespaces, RUN } from "./left_behind.ts";

const missing = Deno.build.os === "linux" ? undefined : "no /proc";

/** Resolves when the process has its variables: it prints a line. */
async function start(run: string): Promise<Deno.ChildProcess> {
  const args = ["-c", "echo; exec sleep 60"];
  const child = new Deno.Command("sh", { args, env: { [RUN]: run }, stdout: "piped" }).spawn();
  const reader = child.stdout.getReader();
  await reader.read();
  await reader.cancel();
  return child;
}

testWhen(missing, "killLeftBehind() kills the processes of a run, of other runs none", async () => {
  const run = crypto.randomUUID();
  const [own, other] = await Promise.all([start(run), start(`${run}-other`)]);
  killLeftBehind(run);
  assert.equal((await own.status).signal, "SIGKILL");
  other.kill("SIGTERM");
  assert.equal((await other.status).signal, "SIGTERM");
});

testWhen(missing ?? needsNamespaces(), "removeNamespaces() ends the processes in the namespaces of a run", async () => {
  const run = crypto.randomUUID();
  const name = `mesh-test-${run}-1`;
  await new Deno.Command("ip", { args: ["netns", "add", name] }).output();
  const child = new Deno.Command("ip", {
    args: ["netns", "exec", name, "env", "-i", "sh", "-c", "echo; exec sleep 60"],
    stdout: "piped",
  })
    .spawn();
  const reader = child.stdout.getReader();
  await reader.read();
  await reader.cancel();
  removeNamespaces(run);
  assert.equal((await child.status).signal, "SIGKILL");
  await assert.rejects(Deno.stat(`/run/netns/${name}`), Deno.errors.NotFound);
});
