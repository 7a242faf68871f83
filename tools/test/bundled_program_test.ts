import assert from "node:assert/strict";
import { launcherOf, withLateImports } from "./bundled_program.ts";

const LAUNCHER = decodeURIComponent(new URL("../../plugin/kubectl-mesh", import.meta.url).pathname);

Deno.test("launcherOf() changes the paths of plugin/kubectl-mesh and leaves out its first run", async () => {
  const text = await Deno.readTextFile(LAUNCHER);
  const changed = launcherOf(text, "/opt/deno").split("\n");
  const added = changed.filter((line) => !text.split("\n").includes(line));
  assert.deepEqual(added, [
    'export DENO_DIR="$root/cache"',
    'exec "/opt/deno" run --config "$root/deno.json" --no-check --no-prompt --allow-all "$root/src/main.js" "$@"',
  ]);
  const gone = text.split("\n").filter((line) => !changed.includes(line));
  assert.match(gone[0] ?? "", /^# Deno shows a bar/);
  assert.match(gone.at(-1) ?? "", /^exec /);
});

Deno.test("launcherOf() refuses a launcher that it does not know", () => {
  assert.throws(() => launcherOf("exec something else", "deno"), /kubectl-mesh has changed/);
});

Deno.test("withLateImports() changes imports of modules beside it that are calls of a command, and no others", () => {
  const code = 'import "./a.js";\nimport("./b-1.js").then(import("node:zlib"));\nimport(name);\n';
  const hidden = 'import "./a.js";\nimport(String("./b-1.js")).then(import("node:zlib"));\nimport(name);\n';
  const of = (first: string, second: string) =>
    `${code}// src/cli/names.ts\n${first}// src/platform/files.ts\n${second}`;
  assert.equal(withLateImports(of(code, code)), of(hidden, code));
});
