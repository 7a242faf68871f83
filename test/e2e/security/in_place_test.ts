/** With `-i` root keeps the owner of files. A link in another user's folder must not redirect the write. */
import assert from "node:assert/strict";
import { runMesh } from "../../support/programs/mesh.ts";
import { temporaryFolder } from "../../support/temporary_folder.ts";
import { testWhen } from "../../support/test_when.ts";

const missing = Deno.build.os === "linux" && Deno.uid() === 0 ? undefined : "it needs root on Linux";
const POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: a, image: a}]}\n";
const OTHER = [1234, 2345] as const;

async function fileOf(path: string, mode: number): Promise<void> {
  await Deno.writeTextFile(path, POD);
  await Deno.chown(path, ...OTHER);
  await Deno.chmod(path, mode);
}

function bits(path: string) {
  const { mode, uid, gid, isSymlink } = Deno.lstatSync(path);
  return { mode: (mode ?? 0) & 0o7777, uid, gid, isSymlink };
}

const [uid, gid] = OTHER;

testWhen(
  missing,
  "security: inject -i as root keeps owner, group and mode of each file, and links stay links",
  async () => {
    await using folder = await temporaryFolder();
    const [plain, shared, link] = ["plain", "shared", "link"].map((name) => `${folder.path}/${name}.yaml`);
    const [target, linked] = [`${folder.path}/target`, `${folder.path}/hard-link`];
    assert.ok(plain !== undefined && shared !== undefined && link !== undefined);
    await fileOf(plain, 0o600);
    await fileOf(shared, 0o664);
    await fileOf(target, 0o640);
    await Deno.symlink(target, link);
    await Deno.link(plain, linked);
    const { code, stderr } = await runMesh(["inject", "-i", "-f", plain, "-f", shared, "-f", link]);
    assert.equal(code, 0, stderr);
    assert.deepEqual(bits(plain), { mode: 0o600, uid, gid, isSymlink: false });
    assert.deepEqual(bits(shared), { mode: 0o664, uid, gid, isSymlink: false });
    assert.deepEqual(bits(target), { mode: 0o640, uid, gid, isSymlink: false });
    assert.equal(bits(link).isSymlink, true);
    for (const path of [plain, shared, target]) assert.match(await Deno.readTextFile(path), /istio-proxy/);
    // A hard link may be another user's file, so its content must not change.
    assert.equal(await Deno.readTextFile(linked), POD);
  },
);

testWhen(missing, "security: -i refuses a named pipe and leaves it unchanged", async () => {
  await using folder = await temporaryFolder();
  const pipe = `${folder.path}/pipe.yaml`;
  assert.ok((await new Deno.Command("mkfifo", { args: [pipe] }).output()).success);
  const before = bits(pipe);
  const { code, stderr } = await runMesh(["inject", "-i", "-f", pipe]);
  assert.equal(code, 2, stderr);
  assert.match(stderr, /^error: The input ".*pipe\.yaml" is not a file: it cannot be written in place/m);
  assert.deepEqual(bits(pipe), before);
});
