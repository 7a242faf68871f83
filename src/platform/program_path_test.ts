import assert from "node:assert/strict";
import { temporaryFolder } from "../../test/support/temporary_folder.ts";
import { MeshError } from "../base/errors.ts";
import { programPath } from "./program_path.ts";
import { realProcesses } from "./deno/processes.ts";
import { realSystemCalls } from "./linux/system_calls.ts";

const NAME = "mesh-test-program";

/** Runs `body` with PATH, in a folder that has the program, beside the folders `good` and `plain`, where it is not executable. */
async function inFolder(path: (folder: string) => string | undefined, body: (folder: string) => unknown) {
  await using folder = await temporaryFolder();
  const before = Deno.cwd();
  const script = "#!/bin/sh\necho ran\n";
  for (const [name, mode] of [["good", 0o755], ["plain", 0o644], ["here", 0o755]] as const) {
    await Deno.mkdir(`${folder.path}/${name}`);
    await Deno.writeTextFile(`${folder.path}/${name}/${NAME}`, script, { mode });
  }
  const given = Deno.env.get("PATH");
  const wanted = path(folder.path);
  Deno.chdir(`${folder.path}/here`);
  if (wanted === undefined) Deno.env.delete("PATH");
  else Deno.env.set("PATH", wanted);
  try {
    await body(folder.path);
  } finally {
    Deno.chdir(before);
    Deno.env.set("PATH", given ?? "");
  }
}

Deno.test("programPath() takes the first executable file of PATH", () =>
  inFolder((folder) => `/nonexistent:${folder}/plain:${folder}/good:.:`, async (folder) => {
    assert.equal(programPath(NAME), `${folder}/good/${NAME}`);
    assert.equal(programPath(`./${NAME}`), `./${NAME}`);
    assert.deepEqual((await realProcesses.run({ command: NAME })).stdout, "ran\n");
  }));

Deno.test("a program of the current folder is not started because PATH leads there", async () => {
  for (const path of [".:/usr/bin:/bin", ":/usr/bin:/bin", "/usr/bin:/bin:", "/usr/bin::/bin", "../here", "", "."]) {
    await inFolder(() => path, async () => {
      const refused = (error: unknown) =>
        error instanceof MeshError &&
        /^Cannot run "mesh-test-program": PATH finds it in (an empty part|the relative folder)/.test(error.message) &&
        /remove that part from PATH/.test(error.hint ?? "");
      await assert.rejects(realProcesses.run({ command: NAME }), refused, path);
      await assert.rejects(realProcesses.run({ command: NAME, stdin: "a".repeat(100_000) }), refused, path);
      assert.throws(() => realProcesses.spawn({ command: NAME }), refused, path);
      assert.throws(() => realProcesses.attach(NAME, []), refused, path);
      assert.throws(() => realSystemCalls.execute(NAME, []), refused, path);
    });
  }
});

Deno.test("a program that does not exist or is not executable cannot be started", async () => {
  await inFolder(() => "/nonexistent", async () => {
    assert.equal((await realProcesses.run({ command: NAME })).code, 127);
    assert.throws(() => realProcesses.spawn({ command: NAME }), /program not found/);
  });
  await inFolder((folder) => `${folder}/plain`, () => {
    assert.throws(() => realProcesses.spawn({ command: NAME }), /it is not executable/);
  });
  await inFolder(() => undefined, () => assert.match(programPath("sh"), /^(\/usr)?\/bin\/sh$/));
});
