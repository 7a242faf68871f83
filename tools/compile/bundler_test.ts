import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { temporaryFolder } from "../../test/support/temporary_folder.ts";
import { checkBundler } from "./bundler.ts";

const GENUINE = new TextEncoder().encode("a bundler");
const BUNDLER = { name: "here", sha256: createHash("sha256").update(GENUINE).digest("hex") };
const FILE = "dl/esbuild-0.25.5/esbuild-here";
const never = () => Promise.reject(new Error("nothing is downloaded"));

Deno.test("checkBundler() downloads the bundler once", async () => {
  await using folder = await temporaryFolder();
  await checkBundler(folder.path, BUNDLER, () => Promise.resolve(GENUINE));
  assert.deepEqual(await Deno.readFile(`${folder.path}/${FILE}`), GENUINE);
  await checkBundler(folder.path, BUNDLER, never);
});

Deno.test("checkBundler() refuses an altered bundler, and leaves none to start", async () => {
  await using folder = await temporaryFolder();
  const altered = new TextEncoder().encode("another bundler");
  await assert.rejects(checkBundler(folder.path, BUNDLER, () => Promise.resolve(altered)), /wanted is [0-9a-f]{64}/);
  await assert.rejects(Deno.stat(`${folder.path}/${FILE}`), Deno.errors.NotFound);
  await Deno.mkdir(`${folder.path}/dl/esbuild-0.25.5`, { recursive: true });
  await Deno.writeFile(`${folder.path}/${FILE}`, altered);
  await assert.rejects(checkBundler(folder.path, BUNDLER, never), /is removed: build again/);
  await assert.rejects(Deno.stat(`${folder.path}/${FILE}`), Deno.errors.NotFound);
});
