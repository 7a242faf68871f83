import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { testWhen } from "../../../test/support/test_when.ts";
import { realWorld } from "../mod.ts";
import { prefixOf, thisOwner } from "./temporary/owner.ts";

const world = realWorld();
const { files } = world;
const notLinux = Deno.build.os === "linux" ? undefined : "not Linux";

async function inFolder(body: (folder: string) => Promise<void>) {
  const folder = await Deno.makeTempDir();
  try {
    await body(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("files.replace() changes nothing before commit(), and keeps the mode", () =>
  inFolder(async (folder) => {
    const path = `${folder}/out.yaml`;
    await Deno.writeTextFile(path, "old", { mode: 0o640 });
    const replacement = files.replace(path);
    replacement.write("new ");
    replacement.write(new TextEncoder().encode("content"));
    assert.equal(await files.readText(path), "old");
    replacement.commit();
    assert.equal(await files.readText(path), "new content");
    assert.equal((await files.stat(path))?.mode, 0o640);
    assert.deepEqual((await files.list(folder)).map((entry) => entry.name), ["out.yaml"]);
  }));

testWhen(
  notLinux,
  "files.replace() removes what a killed process left in the folder, not what a living one has",
  () =>
    inFolder(async (folder) => {
      const self = thisOwner() ?? assert.fail("/proc cannot be read");
      const [ended, living] = [prefixOf({ ...self, start: "1" }), prefixOf(self)];
      for (const start of [ended, living]) await Deno.writeTextFile(`${folder}/${start}0`, "");
      files.writeText(`${folder}/a.yaml`, "new");
      assert.deepEqual((await files.list(folder)).map(({ name }) => name), ["a.yaml", `${living}0`]);
    }),
);

Deno.test("files.replace() leaves only the old file after abort()", () =>
  inFolder(async (folder) => {
    const path = `${folder}/out.yaml`;
    files.writeText(path, "old");
    const replacement = files.replace(path);
    replacement.write("new");
    replacement.abort();
    assert.equal(await files.readText(path), "old");
    assert.equal((await files.list(folder)).length, 1);
  }));

Deno.test("files.writeText() leaves no new file when it cannot replace the old one", () =>
  inFolder(async (folder) => {
    await Deno.mkdir(`${folder}/out`);
    assert.throws(() => files.writeText(`${folder}/out`, "new"), /^MeshError: Cannot write ".*\/out": /);
    assert.deepEqual((await files.list(folder)).map((entry) => entry.name), ["out"]);
  }));

Deno.test("files.replace() replaces the target of a symbolic link", () =>
  inFolder(async (folder) => {
    await Deno.symlink("real.yaml", `${folder}/link.yaml`);
    files.writeText(`${folder}/real.yaml`, "old");
    files.writeText(`${folder}/link.yaml`, "new");
    assert.equal(await Deno.readTextFile(`${folder}/real.yaml`), "new");
    assert.equal((await Deno.lstat(`${folder}/link.yaml`)).isSymlink, true);
  }));

Deno.test("files.scratch() keeps what is written in a file without a name", () => {
  const before = [...Deno.readDirSync(tmpdir())].length;
  const scratch = files.scratch();
  assert.equal([...Deno.readDirSync(tmpdir())].length, before);
  for (const text of ["a".repeat(100_000), "b"]) scratch.write(new TextEncoder().encode(text));
  let read = "";
  for (const bytes of scratch.chunks()) read += new TextDecoder().decode(bytes);
  scratch.close();
  assert.equal(read, "a".repeat(100_000) + "b");
});

Deno.test("files.writeText() sets the mode of a new file", () =>
  inFolder(async (folder) => {
    files.writeText(`${folder}/key`, "secret", 0o600);
    assert.equal((await files.stat(`${folder}/key`))?.mode, 0o600);
  }));

Deno.test("files.makeFolder() creates missing folders, for their owner only", () =>
  inFolder(async (folder) => {
    await files.makeFolder(`${folder}/a/b`);
    await files.makeFolder(`${folder}/a/b`);
    assert.equal((await files.stat(`${folder}/a/b`))?.mode, 0o700);
    files.writeText(`${folder}/file`, "");
    await assert.rejects(files.makeFolder(`${folder}/file/b`), /Cannot make the folder ".*": a parent in the path/);
  }));

Deno.test("errors of files name the path and the reason", () =>
  inFolder(async (folder) => {
    const absent = `${folder}/absent`;
    await assert.rejects(files.readText(absent), { message: `Cannot read "${absent}": no such file or directory` });
    await assert.rejects(files.readText(folder), { message: `Cannot read "${folder}": it is a directory` });
    assert.throws(() => files.replace(`${absent}/x`), {
      message: `Cannot write "${absent}/x": no such file or directory`,
    });
    const url = "https://user:secret@host.test/x.yaml?token=secret";
    const message = 'Cannot read "https://host.test/x.yaml?[redacted]": it is a URL, not a file';
    await assert.rejects(files.readText(url), { message, hint: /"curl -o FILE URL"/ });
    assert.equal(await files.stat(absent), undefined);
    await files.remove(absent);
  }));

Deno.test("files.readText() rejects a file above the limit", () =>
  inFolder(async (folder) => {
    files.writeText(`${folder}/big`, "x".repeat(100_000));
    await assert.rejects(files.readText(`${folder}/big`, 1000), /larger than 1000 bytes/);
  }));

Deno.test("files.chunks() reads a large file in chunks", () =>
  inFolder(async (folder) => {
    files.writeText(`${folder}/big`, "x".repeat(200_000));
    const sizes = (await Array.fromAsync(files.chunks(`${folder}/big`))).map((piece) => piece.length);
    assert.equal(sizes.reduce((sum, size) => sum + size, 0), 200_000);
    assert.ok(Math.max(...sizes) <= 65536);
  }));

Deno.test({
  name: "files.lock() is exclusive, and waits",
  // The C library is opened by the first who needs it and stays open.
  sanitizeResources: false,
  fn: () =>
    inFolder(async (folder) => {
      const path = `${folder}/lock`;
      const child = new Deno.Command("flock", { args: ["-n", path, "true"] });
      for (const _ of ["a file that is made", "a file that is there"]) {
        const lock = await files.lock(path, 1000);
        assert.equal((await child.output()).code, 1);
        lock?.release();
        assert.equal((await child.output()).code, 0);
      }
      const first = await files.lock(path, 1000);
      const second = files.lock(path, 60_000);
      first?.release();
      (await second)?.release();
    }),
});

Deno.test("processes.run() gives input, environment, output and exit code", async () => {
  const script = 'read line; echo "$line $WORD"; echo oops >&2; exit 7';
  const result = await world.processes.run({
    command: "sh",
    args: ["-c", script],
    stdin: "hello\n",
    env: { WORD: "there" },
  });
  assert.deepEqual(result, { code: 7, stdout: "hello there\n", stderr: "oops\n", timedOut: false });
});

Deno.test("processes.run() reports a program that does not exist, reads nothing, or times out", async () => {
  assert.equal((await world.processes.run({ command: "no-such-program-here" })).code, 127);
  assert.equal((await world.processes.run({ command: "true", stdin: "x".repeat(1_000_000) })).code, 0);
  const late = await world.processes.run({ command: "sleep", args: ["5"], timeoutMilliseconds: 50 });
  assert.equal(late.timedOut, true);
  assert.notEqual(late.code, 0);
});

Deno.test("clock.sleep() ends early when the signal fires", async () => {
  const abort = new AbortController();
  const start = world.clock.monotonic();
  setTimeout(() => abort.abort(), 5);
  await world.clock.sleep(60_000, abort.signal);
  assert.ok(world.clock.monotonic() - start < 30_000);
});

Deno.test("signals.on() calls the handler until it is removed", async () => {
  const seen = new AbortController();
  const off = world.signals.on("SIGHUP", () => seen.abort());
  Deno.kill(Deno.pid, "SIGHUP");
  await world.clock.sleep(10_000, seen.signal);
  off();
  assert.equal(seen.signal.aborted, true);
});

Deno.test("realWorld() takes its name from the launcher", () => {
  Deno.env.set("MESH_ARGV0", "/usr/local/bin/istio-iptables");
  assert.equal(realWorld().name, "istio-iptables");
  Deno.env.delete("MESH_ARGV0");
  assert.equal(realWorld().name.includes("/"), false);
});
