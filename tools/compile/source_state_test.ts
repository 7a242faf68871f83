import assert from "node:assert/strict";
import { temporaryFolder } from "../../test/support/temporary_folder.ts";
import { fillIn, isoTime, sourceState } from "./source_state.ts";
import { mustRun } from "./run.ts";

const DATE = "2026-01-02T03:04:05Z";

async function commit(folder: string): Promise<void> {
  const git = (...args: string[]) =>
    mustRun(["git", "-C", folder, ...args], { GIT_COMMITTER_DATE: DATE, GIT_AUTHOR_DATE: DATE });
  await git("init", "--quiet");
  await Deno.writeTextFile(`${folder}/file`, "text");
  await git("add", "file");
  await git("-c", "user.name=a", "-c", "user.email=a@b.test", "commit", "--quiet", "-m", "one");
}

Deno.test("sourceState() is the commit and its time; changes are reported", async () => {
  await using temporary = await temporaryFolder();
  const folder = temporary.path;
  assert.deepEqual(await sourceState(folder, ""), { commit: "", seconds: undefined });
  await commit(folder);
  const { commit: clean, seconds } = await sourceState(folder, "");
  assert.match(clean, /^[0-9a-f]{40}$/);
  assert.equal(isoTime(seconds ?? 0), DATE);
  await Deno.writeTextFile(`${folder}/file`, "other");
  assert.deepEqual(await sourceState(folder, "86400"), { commit: `${clean}-dirty`, seconds: 86400 });
  await Deno.mkdir(`${folder}/inner`);
  assert.deepEqual(await sourceState(`${folder}/inner`, ""), { commit: "", seconds: undefined });
  await assert.rejects(sourceState(folder, "today"), /SOURCE_DATE_EPOCH is "today"/);
});

Deno.test("fillIn() writes commit and date into the one file that has the places", async () => {
  await using temporary = await temporaryFolder();
  const folder = temporary.path;
  const source = await Deno.readTextFile(new URL("../../src/build.ts", import.meta.url));
  await Deno.writeTextFile(`${folder}/a.js`, "other");
  await assert.rejects(fillIn(folder, { commit: "c0ffee", seconds: 0 }), /has 0 places for/);
  await Deno.writeTextFile(`${folder}/b.js`, source);
  await fillIn(folder, { commit: "c0ffee", seconds: 0 });
  const code = await Deno.readTextFile(`${folder}/b.js`);
  assert.match(code, /filled\("c0ffee"\)/);
  assert.match(code, /filled\("1970-01-01T00:00:00Z"\)/);
});
