import assert from "node:assert/strict";
import { temporaryFolder } from "../../../../test/support/temporary_folder.ts";
import { testWhen } from "../../../../test/support/test_when.ts";
import { type Owner, prefixOf, thisOwner } from "./owner.ts";
import { removeStale } from "./stale.ts";

const notLinux = Deno.build.os === "linux" ? undefined : "not Linux";
const self = thisOwner() ?? assert.fail("/proc cannot be read");
/** The process id of this process, as a process had it that has ended. */
const ENDED: Owner = { ...self, start: "1" };

/** What is left of these names after a removal. */
async function left(make: (folder: string) => void | Promise<void>): Promise<string[]> {
  await using folder = await temporaryFolder();
  await make(folder.path);
  removeStale(folder.path, self);
  return (await Array.fromAsync(Deno.readDir(folder.path), ({ name }) => name)).sort();
}

testWhen(notLinux, "removeStale() removes files and folders of ended processes, and their sockets", async () => {
  const names = await left((folder) => {
    const path = `${folder}/${prefixOf(ENDED)}a1`;
    Deno.mkdirSync(path, { mode: 0o700 });
    Deno.listen({ transport: "unix", path: `${path}/http` }).close();
    Deno.writeTextFileSync(`${folder}/${prefixOf({ ...ENDED, pid: 4_194_999 })}a2`, "held");
  });
  assert.deepEqual(names, []);
});

testWhen(
  notLinux,
  "removeStale() leaves files of a process that runs, or that is not known",
  async () => {
    const kept = [
      `${prefixOf(self)}a1`,
      `${prefixOf({ ...ENDED, space: "another" })}a1`,
      "kubectl-mesh-a1b2c3d4",
      `x${prefixOf(ENDED)}a1`,
      "web.yaml",
    ].sort();
    const names = await left((folder) => kept.forEach((name) => Deno.writeTextFileSync(`${folder}/${name}`, "")));
    assert.deepEqual(names, kept);
  },
);

testWhen(
  notLinux,
  "removeStale() follows no symbolic link, and removes no folder that others may read or that has folders",
  async () => {
    const [link, open, deep] = ["a1", "a2", "a3"].map((end) => `${prefixOf(ENDED)}${end}`);
    const names = await left((folder) => {
      Deno.mkdirSync(`${folder}/of-the-user`, { mode: 0o700 });
      Deno.writeTextFileSync(`${folder}/of-the-user/file`, "");
      Deno.symlinkSync(`${folder}/of-the-user`, `${folder}/${link}`);
      Deno.mkdirSync(`${folder}/${open}`);
      Deno.chmodSync(`${folder}/${open}`, 0o755);
      Deno.mkdirSync(`${folder}/${deep}/more`, { recursive: true, mode: 0o700 });
      Deno.symlinkSync(`${folder}/of-the-user/file`, `${folder}/${deep}/link`);
    });
    assert.deepEqual(names, [link, open, deep, "of-the-user"].sort());
  },
);

testWhen(notLinux, "removeStale() skips a folder in which other users could replace entries", async () => {
  const name = `${prefixOf(ENDED)}a1`;
  for (const [mode, expected] of [[0o777, [name]], [0o1777, []], [0o755, []]] as const) {
    const names = await left((folder) => {
      Deno.writeTextFileSync(`${folder}/${name}`, "");
      Deno.chmodSync(folder, mode);
    });
    assert.deepEqual(names, expected, mode.toString(8));
  }
});

testWhen(notLinux, "removeStale() of a folder that is not there does nothing", () => {
  removeStale("/nowhere/at/all", self);
});
