import assert from "node:assert/strict";
import { temporaryFolder } from "../../../test/support/temporary_folder.ts";
import { createFile, ownershipOf } from "./new_file.ts";

const isRoot = Deno.build.os === "linux" && Deno.uid() === 0;
const bits = (path: string) => {
  const { mode, uid, gid } = Deno.lstatSync(path);
  return [(mode ?? 0) & 0o7777, uid, gid];
};

Deno.test("createFile() creates a file with the wanted mode, with any umask", async () => {
  await using folder = await temporaryFolder();
  for (const mode of [0o644, 0o600, 0o666, 0o777, 0o222]) {
    const path = `${folder.path}/${mode}`;
    createFile(path, { mode, owner: undefined }).close();
    assert.equal(bits(path)[0], mode);
  }
  const [other = ""] = [`${folder.path}/${0o600}`];
  assert.throws(() => createFile(other, { mode: 0o600, owner: undefined }), Deno.errors.AlreadyExists);
  assert.deepEqual(ownershipOf(`${folder.path}/none`), { mode: 0o644, owner: undefined });
  assert.equal(ownershipOf(other).mode, 0o600);
  assert.equal(ownershipOf(other, 0o640).mode, 0o640);
});

Deno.test({
  name: "createFile() as root keeps the owner and the group, and not the bits that run a program as them",
  ignore: !isRoot,
  async fn() {
    await using folder = await temporaryFolder();
    const [old, path] = [`${folder.path}/old`, `${folder.path}/new`];
    await Deno.writeTextFile(old, "");
    await Deno.chown(old, 1234, 2345);
    await Deno.chmod(old, 0o6664);
    createFile(path, ownershipOf(old)).close();
    assert.deepEqual(bits(path), [0o664, 1234, 2345]);
    assert.deepEqual(ownershipOf(old, 0o600), { mode: 0o600, owner: undefined });
  },
});

Deno.test({
  name: "createFile() changes no other file that takes the place of the new one",
  ignore: !isRoot,
  async fn() {
    await using folder = await temporaryFolder();
    const [victim, path] = [`${folder.path}/victim`, `${folder.path}/new`];
    await Deno.writeTextFile(victim, "", { mode: 0o600 });
    const before = bits(victim);
    const { openSync } = Deno;
    for (const kind of ["link", "hard link", "pipe"]) {
      // What another user does between the creation and the change of the owner.
      Deno.openSync = (...args) => {
        const file = openSync(...args);
        Deno.removeSync(path);
        if (kind === "link") Deno.symlinkSync(victim, path);
        else if (kind === "hard link") Deno.linkSync(victim, path);
        else new Deno.Command("mkfifo", { args: [path] }).outputSync();
        return file;
      };
      try {
        assert.throws(() => createFile(path, { mode: 0o666, owner: { uid: 1234, gid: 1234 } }), Error, kind);
      } finally {
        Deno.openSync = openSync;
        Deno.removeSync(path);
      }
      assert.deepEqual(bits(victim), before, kind);
    }
  },
});
