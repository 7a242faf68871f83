/**
 * Builds the current commit in clones of this checkout until two builds agree, and copies the release from one of them
 * to `dist/release`: `tools/deno task rebuild SCRIPT FOLDER`. In each clone, sh runs `SCRIPT` with its own cache.
 * Exits with 1 if no two builds agree.
 */
import { agreed } from "./release/rebuild.ts";
import { mustRun, say } from "./compile/run.ts";

const ROOT = decodeURIComponent(new URL("..", import.meta.url).pathname).replace(/\/$/, "");

async function main([script = "", folder = ""]: readonly string[]): Promise<void> {
  if (script === "" || folder === "") throw new Error("Usage: rebuild SCRIPT FOLDER");
  const chosen = await agreed(async (name, caches) => {
    say(`rebuild: ${name}`);
    const clone = `${folder}/${name}`;
    await mustRun(["git", "clone", "--quiet", ROOT, clone]);
    // Each clone has its own caches, so that builds share no downloads.
    const cache = { MESH_CACHE: `${clone}/.cache`, DENO_DIR: `${clone}/.cache/deno-dir` };
    const env = { ...cache, MESH_CODE_CACHES: `${folder}/caches/${caches}` };
    say(await mustRun(["sh", script], env, clone));
    return await Deno.readTextFile(`${clone}/dist/release/checksums.txt`);
  });
  await mustRun(["rm", "-rf", `${ROOT}/dist/release`]);
  await mustRun(["mkdir", "-p", `${ROOT}/dist`]);
  await mustRun(["cp", "-R", `${folder}/${chosen}/dist/release`, `${ROOT}/dist/release`]);
  say(`rebuild: two builds have the bytes of the ${chosen} one`);
}

try {
  await main(Deno.args);
} catch (error) {
  say(`error: ${error instanceof Error ? error.message : String(error)}`);
  Deno.exit(1);
}
