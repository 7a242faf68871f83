import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { temporaryFolder } from "../../test/support/temporary_folder.ts";
import { testWhen } from "../../test/support/test_when.ts";
import { type Platform, PLATFORMS, RUNTIME_VERSION, thisPlatform, WHEEL } from "./platforms.ts";
import { run } from "./run.ts";
import { runtimeFor } from "./runtime.ts";

const ROOT = decodeURIComponent(new URL("../..", import.meta.url).pathname).replace(/\/$/, "");
const GENUINE = new TextEncoder().encode("a runtime");
const PLATFORM: Platform = { ...thisPlatform(), sha256: createHash("sha256").update(GENUINE).digest("hex") };

const otherDeno = Deno.version.deno === RUNTIME_VERSION ? undefined : "runtimes of another Deno are pinned";
const pip = await run(["python3", "-m", "pip", "--version"]);
const noPip = pip.ok && Deno.build.os === "linux" ? undefined : "python3 has no pip, or this is no Linux";

async function kept(cache: string): Promise<string[]> {
  const folder = `${cache}/denort/${RUNTIME_VERSION}/${PLATFORM.name}`;
  const entries = await Array.fromAsync(Deno.readDir(folder)).catch((error: unknown) => {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  });
  return entries.map(({ name }) => name);
}

testWhen(otherDeno, "runtimeFor() downloads a runtime once", async () => {
  await using folder = await temporaryFolder();
  let downloads = 0;
  const download = () => {
    downloads++;
    return Promise.resolve(GENUINE);
  };
  const file = await runtimeFor(PLATFORM, folder.path, download);
  assert.equal(await runtimeFor(PLATFORM, folder.path, download), file);
  assert.deepEqual(await Deno.readFile(file), GENUINE);
  assert.equal(downloads, 1);
});

testWhen(
  otherDeno,
  "runtimeFor() takes no altered file from the cache, and puts the pinned one in its place",
  async () => {
    await using folder = await temporaryFolder();
    const file = await runtimeFor(PLATFORM, folder.path, () => Promise.resolve(GENUINE));
    await Deno.writeTextFile(file, "another runtime");
    await runtimeFor(PLATFORM, folder.path, () => Promise.resolve(GENUINE));
    assert.deepEqual(await Deno.readFile(file), GENUINE);
  },
);

testWhen(otherDeno, "runtimeFor() refuses altered bytes of a download, and keeps nothing of them", async () => {
  await using folder = await temporaryFolder();
  const altered = () => Promise.resolve(new TextEncoder().encode("a runtimf"));
  await assert.rejects(runtimeFor(PLATFORM, folder.path, altered), /checksum .* wrong.* wanted is [0-9a-f]{64}/);
  assert.deepEqual(await kept(folder.path), []);
});

Deno.test("every platform has the checksum of its runtime", () => {
  for (const { name, sha256 } of PLATFORMS) assert.match(sha256, /^[0-9a-f]{64}$/, name);
});

/** A wheel whose program is an ELF header alone: it is taken for a runtime, with other bytes than the pin. */
const MAKE_WHEEL = `
import sys, zipfile
file, name, version, tag = sys.argv[1:]
info = f"{name}-{version}.dist-info/"
with zipfile.ZipFile(file, "w") as wheel:
    wheel.writestr(f"{name}-{version}.data/scripts/" + name.replace("_", "-"), b"\\x7fELF\\x02\\x01" + bytes(58))
    wheel.writestr(info + "METADATA", f"Metadata-Version: 2.1\\nName: {name}\\nVersion: {version}\\n")
    wheel.writestr(info + "WHEEL", f"Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: false\\nTag: py3-none-{tag}\\n")
    wheel.writestr(info + "RECORD", "")
`;

testWhen(
  otherDeno ?? noPip,
  "a build refuses an altered runtime of a package index, and keeps nothing of it",
  async () => {
    await using folder = await temporaryFolder();
    const name = WHEEL.name.replaceAll("-", "_");
    const wheel = `${name}-${WHEEL.version}-py3-none-${PLATFORM.wheel}.whl`;
    const made = await run([
      "python3",
      "-c",
      MAKE_WHEEL,
      `${folder.path}/${wheel}`,
      name,
      WHEEL.version,
      PLATFORM.wheel,
    ]);
    assert.equal(made.ok, true, made.text);
    const content = await Deno.readFile(`${folder.path}/${wheel}`);
    const asked: string[] = [];
    await using server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, ({ url }) => {
      asked.push(new URL(url).pathname);
      if (url.endsWith(".whl")) return new Response(content);
      return new Response(`<a href="/${wheel}">${wheel}</a>`, { headers: { "content-type": "text/html" } });
    });
    await Deno.writeTextFile(`${folder.path}/main.ts`, "");
    const index = `http://127.0.0.1:${server.addr.port}/`;
    const build = [Deno.execPath(), "run", "--quiet", "--allow-all", "--no-check", `${ROOT}/tools/compile.ts`];
    const { code, text } = await run(
      [...build, "--entry", `${folder.path}/main.ts`, "--output", `${folder.path}/out`],
      // A pip with other configured indexes would find the real wheel.
      {
        MESH_CACHE: `${folder.path}/cache`,
        PIP_INDEX_URL: index,
        PIP_EXTRA_INDEX_URL: "",
        PIP_FIND_LINKS: "",
        PIP_CONFIG_FILE: "/dev/null",
        PIP_NO_CACHE_DIR: "1",
      },
      ROOT,
    );
    assert.equal(code, 1, text);
    assert.match(
      text,
      /error: Cannot compile for .*: The checksum of the program is wrong, it is not used: it has SHA-256/,
    );
    assert.equal(asked.includes(`/${wheel}`), true);
    assert.deepEqual(await kept(`${folder.path}/cache`), []);
    await assert.rejects(Deno.stat(`${folder.path}/out`), Deno.errors.NotFound);
  },
);
