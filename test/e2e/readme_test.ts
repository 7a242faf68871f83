/** README.md as a reader follows it: each of its code blocks runs in a test. `test/golden/docs_test.ts` runs those with outputs. */
import assert from "node:assert/strict";
import { MESH_BINARY } from "../support/programs/mesh.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";
import { testWhen } from "../support/test_when.ts";

const ROOT = decodeURIComponent(new URL("../../", import.meta.url).pathname);
const DEMO = "sudo examples/demo.sh\n";
const INSTALL = "tools/deno task compile\nsudo install dist/kubectl-mesh /usr/local/bin/\n";

/** Blocks without outputs: the file that runs them, and a text in it. */
const RUN_BY: Readonly<Record<string, readonly [file: string, text: string]>> = {
  [DEMO]: ["test/e2e/demo_test.ts", "../../examples/demo.sh"],
  [INSTALL]: [".ci/run", "tools/deno task --quiet compile"],
};

Deno.test("every code block of README.md runs in a test", async () => {
  const page = await Deno.readTextFile(`${ROOT}README.md`);
  const blocks = [...page.matchAll(/^```(.*)\n([^]*?)^```$/gm)].map(([, kind = "", body = ""]) => ({ kind, body }));
  const others = blocks.filter(({ kind }) => !/^console run/.test(kind)).map(({ body }) => body);
  assert.deepEqual(others, Object.keys(RUN_BY));
  for (const [file, text] of Object.values(RUN_BY)) {
    assert.ok((await Deno.readTextFile(`${ROOT}${file}`)).includes(text), file);
  }
  assert.equal(blocks.length - others.length, 4);
});

const noBinary = MESH_BINARY === undefined ? "needs a compiled binary: MESH_BINARY" : undefined;

testWhen(noBinary, "what README.md installs runs from there, writes nothing else, and can be removed", async () => {
  await using folder = await temporaryFolder();
  const [bin, home] = [`${folder.path}/bin/`, `${folder.path}/home`];
  for (const path of [bin, home]) await Deno.mkdir(path);
  const [, install = ""] = INSTALL.trimEnd().split("\n");
  const script = `${
    install.replace("sudo ", "").replace("dist/kubectl-mesh", '"$MESH_BINARY"').replace("/usr/local/bin/", bin)
  } && kubectl-mesh version --client`;
  const { code, stdout } = await new Deno.Command("bash", {
    args: ["-c", script],
    env: { PATH: `${bin}:${Deno.env.get("PATH")}`, HOME: home, TMPDIR: folder.path },
  }).output();
  assert.equal(code, 0);
  assert.match(new TextDecoder().decode(stdout), /^kubectl-mesh \d/);
  await Deno.remove(`${bin}kubectl-mesh`);
  assert.deepEqual([...await Array.fromAsync(Deno.readDir(home)), ...await Array.fromAsync(Deno.readDir(bin))], []);
});
