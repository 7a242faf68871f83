import assert from "node:assert/strict";
import { realWorld } from "../mod.ts";

const { processes, system } = realWorld();
const missing = Deno.build.os === "linux" ? "" : " [skipped: not Linux]";

function linuxTest(name: string, fn: () => Promise<void>) {
  // The C library stays open, and Deno never gives up a child whose signal it cannot name.
  Deno.test({ name: `${name}${missing}`, ignore: missing !== "", sanitizeResources: false, fn });
}

const shell = (script: string) => processes.spawn({ command: "/bin/sh", args: ["-c", script], errorOutput: "piped" });

linuxTest("processes.spawn() returns the exit code, or 128 + signal with the signal's name", async () => {
  const ends = await Promise.all(["exit 0", "exit 255", "kill -SEGV $$", "kill -34 $$"].map(async (script) => {
    const child = shell(script);
    await child.errorOutput?.cancel();
    return await child.ended;
  }));
  assert.deepEqual(ends, [
    { code: 0, signal: undefined },
    { code: 255, signal: undefined },
    { code: 139, signal: "SIGSEGV" },
    { code: 162, signal: "SIG34" },
  ]);
});

linuxTest("processes.spawn() makes a group of its own, and a signal reaches all of it", async () => {
  const child = shell('sleep 60 & echo "$(cut -d" " -f5,6 /proc/self/stat)" >&2; sleep 60; true');
  const reader = child.errorOutput?.getReader();
  assert.ok(reader !== undefined);
  const first = await reader.read();
  assert.equal(new TextDecoder().decode(first.value), `${child.pid} ${child.pid}\n`);
  assert.equal(child.signal("SIGTERM"), true);
  assert.deepEqual(await child.ended, { code: 143, signal: "SIGTERM" });
  // The end of the pipe comes when the last of the group is gone.
  assert.equal((await reader.read()).done, true);
  assert.equal(child.signal("SIGTERM"), false);
});

linuxTest("processes.spawn() names what is absent or not executable", () =>
  Promise.resolve().then(() => {
    assert.throws(() => processes.spawn({ command: "/no/such/envoy" }), {
      message: 'Cannot start "/no/such/envoy": program not found',
    });
    assert.throws(() => processes.spawn({ command: "/etc/passwd" }), {
      message: 'Cannot start "/etc/passwd": it is not executable, or this user may not run it',
    });
  }));

linuxTest("system.hasEndedChild() sees an orphan, takes no status, and system.reap() makes it forgotten", async () => {
  system.adoptOrphans();
  // The shell ends at once and leaves a child, which prints its number and ends.
  const child = shell("sh -c 'sleep 0.2; echo $$ >&2' & exit 7");
  assert.deepEqual(await child.ended, { code: 7, signal: undefined });
  const said = await new Response(child.errorOutput ?? null).text();
  const pid = Number(said);
  while (!isZombie(pid)) await new Promise((resolve) => setTimeout(resolve, 10));
  assert.equal(system.hasEndedChild(), true);
  assert.equal(isZombie(pid), true);
  system.reap(pid);
  assert.throws(() => Deno.statSync(`/proc/${pid}`), Deno.errors.NotFound);
  system.reap(pid);
});

function isZombie(pid: number): boolean {
  return / Z /.test(Deno.readTextFileSync(`/proc/${pid}/stat`));
}
