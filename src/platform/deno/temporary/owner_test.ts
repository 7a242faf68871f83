import assert from "node:assert/strict";
import { testWhen } from "../../../../test/support/test_when.ts";
import { hasEnded, ownerOf, prefixOf, thisOwner } from "./owner.ts";

const notLinux = Deno.build.os === "linux" ? undefined : "not Linux";
const self = thisOwner() ?? assert.fail("/proc cannot be read");

Deno.test("ownerOf() reads the names that prefixOf() starts, and no others", () => {
  assert.deepEqual(ownerOf(`${prefixOf(self)}0123abcd`), self);
  for (const name of ["kubectl-mesh-0123abcd", "kubectl-mesh-", prefixOf(self), `${prefixOf(self)}a/b`]) {
    assert.equal(ownerOf(name), undefined, name);
  }
});

testWhen(notLinux, "hasEnded() identifies a process by PID and start time, only in the same PID namespace", () => {
  assert.equal(hasEnded(self, self), false);
  assert.equal(hasEnded({ ...self, start: "1" }, self), true);
  assert.equal(hasEnded({ ...self, pid: 4_194_999 }, self), true);
  assert.equal(hasEnded({ ...self, pid: 4_194_999, space: "another" }, self), false);
});

testWhen(notLinux, "hasEnded() is true for a zombie", async () => {
  // The shell becomes a program that never reaps its child.
  const shell = new Deno.Command("sh", { args: ["-c", "sleep 0 & echo $!; exec sleep 60"], stdout: "piped" }).spawn();
  const reader = shell.stdout.getReader();
  try {
    const pid = Number(new TextDecoder().decode((await reader.read()).value));
    const fields = () => Deno.readTextFileSync(`/proc/${pid}/stat`).split(") ")[1]?.split(" ") ?? [];
    while (fields()[0] !== "Z") await new Promise((resolve) => setTimeout(resolve, 5));
    const start = Number(fields()[19]).toString(36);
    assert.equal(hasEnded({ ...self, pid, start }, self), true);
  } finally {
    shell.kill();
    await reader.cancel();
    await shell.status;
  }
});
