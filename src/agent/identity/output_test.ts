import assert from "node:assert/strict";
import { MeshError } from "../../base/errors.ts";
import { realFiles } from "../../platform/deno/files.ts";
import type { Files } from "../../platform/world.ts";
import { outputProblem, writeOutput } from "./output.ts";

const NAMES = ["cert-chain.pem", "key.pem", "root-cert.pem"];

async function inFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await run(`${folder}/certs`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function contents(folder: string): Promise<string[]> {
  const entries = await realFiles.list(folder);
  return await Promise.all(entries.map(async ({ name }) => `${name}: ${await Deno.readTextFile(`${folder}/${name}`)}`));
}

function modeOf(path: string): number {
  return (Deno.statSync(path).mode ?? 0) & 0o777;
}

/** What is another one for another file of the same name. */
function numbers(folder: string): (number | null)[] {
  return NAMES.map((name) => Deno.statSync(`${folder}/${name}`).ino);
}

Deno.test("writeOutput() creates a private folder and three private files with any umask", () =>
  inFolder(async (folder) => {
    const before = Deno.umask(0);
    try {
      await writeOutput(realFiles, folder, { certificate: "c1", key: "k1" }, "r1");
    } finally {
      Deno.umask(before);
    }
    assert.deepEqual(await contents(folder), ["cert-chain.pem: c1", "key.pem: k1", "root-cert.pem: r1"]);
    assert.deepEqual(["", ...NAMES].map((name) => modeOf(`${folder}/${name}`)), [0o700, 0o600, 0o600, 0o600]);
  }));

Deno.test("writeOutput() writes only files that differ", () =>
  inFolder(async (folder) => {
    await writeOutput(realFiles, folder, { certificate: "c1", key: "k1" }, "r1");
    const [certificate, key, roots] = numbers(folder);
    await writeOutput(realFiles, folder, { certificate: "c1", key: "k1" }, "r1");
    assert.deepEqual(numbers(folder), [certificate, key, roots]);
    await writeOutput(realFiles, folder, { certificate: "c2", key: "k1" }, "r1");
    const [after, ...rest] = numbers(folder);
    assert.notEqual(after, certificate);
    assert.deepEqual(rest, [key, roots]);
  }));

Deno.test("writeOutput() replaces a readable file by a private one", () =>
  inFolder(async (folder) => {
    await Deno.mkdir(folder);
    await Deno.writeTextFile(`${folder}/key.pem`, "old", { mode: 0o644 });
    await writeOutput(realFiles, folder, { certificate: "c", key: "k" }, "r");
    assert.equal(modeOf(`${folder}/key.pem`), 0o600);
  }));

/** Files; one cannot be written: the disk is full. */
function filesWithout(name: string): Files {
  return {
    ...realFiles,
    replace(path, mode) {
      const replacement = realFiles.replace(path, mode);
      const write = () => {
        throw new MeshError(`Cannot write "${path}": no space left on device`);
      };
      return path.endsWith(name) ? { ...replacement, write } : replacement;
    },
  };
}

for (const name of NAMES) {
  Deno.test(`writeOutput() leaves all files unchanged if ${name} cannot be written, and no temporary file`, () =>
    inFolder(async (folder) => {
      await writeOutput(realFiles, folder, { certificate: "c1", key: "k1" }, "r1");
      const before = await contents(folder);
      await assert.rejects(
        writeOutput(filesWithout(name), folder, { certificate: "c2", key: "k2" }, "r2"),
        /no space left/,
      );
      assert.deepEqual(await contents(folder), before);
    }));
}

Deno.test("outputProblem() names the folder and the variable", () => {
  assert.equal(
    outputProblem("/certs", new Error("full")),
    'files: The certificate is in force, but not written to "/certs" (OUTPUT_CERTS): full',
  );
});
