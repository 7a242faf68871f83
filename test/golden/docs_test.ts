/** The examples of docs/ do what the pages say (`test/support/docs_page.ts`). UPDATE=1 writes the outputs anew. */
import assert from "node:assert/strict";
import { examplesOf, isShown, type ShownCommand, withOutputs } from "../support/docs_page.ts";
import { helmProgram, kustomizeProgram } from "../support/programs/gitops.ts";
import { MESH_COMMAND } from "../support/programs/mesh.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";
import { needsProgram } from "../support/test_when.ts";

const DOCS = decodeURIComponent(new URL("../../docs/", import.meta.url).pathname);

/** Programs that commands may need: why there is none, and where it is if it is built. */
const PROGRAMS: Readonly<Record<string, { readonly missing: string | undefined; readonly path?: () => Promise<string> }>> = {
  helm: { missing: needsProgram("go"), path: helmProgram },
  kustomize: { missing: needsProgram("go"), path: kustomizeProgram },
  kubectl: { missing: needsProgram("kubectl") },
};

/** Where there is no kubectl, it is one that only knows this plugin. */
const PLUGIN_ALONE = '#!/bin/sh\n[ "$1" = mesh ] && shift && exec kubectl-mesh "$@"\nexit 127\n';

for (const { name } of Deno.readDirSync(DOCS)) {
  const path = `${DOCS}${name}`;
  if (!name.endsWith(".md") || !Deno.readTextFileSync(path).includes("\n```console run")) continue;
  Deno.test(`the examples of docs/${name} do what the page says`, (t) => checkPage(path, t));
}

async function checkPage(path: string, t: Deno.TestContext): Promise<void> {
  await using folder = await temporaryFolder();
  const bin = `${folder.path}/bin`;
  const cwd = `${folder.path}/page`;
  for (const each of [bin, cwd]) await Deno.mkdir(each);
  await Deno.symlink(MESH_COMMAND, `${bin}/kubectl-mesh`);
  if (needsProgram("kubectl") !== undefined) await Deno.writeTextFile(`${bin}/kubectl`, PLUGIN_ALONE, { mode: 0o755 });
  const page = await Deno.readTextFile(path);
  const outputs = new Map<number, string>();
  for (const example of examplesOf(page)) {
    if ("file" in example) {
      await Deno.writeTextFile(`${cwd}/${example.file}`, example.text);
      continue;
    }
    const { line, command, needs } = example;
    const missing = needs.map(missingProgram).find((reason) => reason !== undefined);
    const name = `line ${line}: ${command}`;
    await t.step({
      name: missing === undefined ? name : `${name} [skipped: ${missing}]`,
      ignore: missing !== undefined,
      fn: async () => {
        for (const need of needs) await provide(need, bin);
        outputs.set(line, await check(example, { bin, cwd, home: folder.path }));
      },
    });
  }
  if (Deno.env.get("UPDATE") === "1") await Deno.writeTextFile(path, withOutputs(page, outputs));
}

function missingProgram(name: string): string | undefined {
  const program = PROGRAMS[name] ?? assert.fail(`The page needs the program "${name}", which no test provides`);
  return program.missing;
}

async function provide(name: string, bin: string): Promise<void> {
  const path = await PROGRAMS[name]?.path?.();
  if (path === undefined) return;
  await Deno.remove(`${bin}/${name}`).catch(() => {});
  await Deno.symlink(path, `${bin}/${name}`);
}

interface Place {
  readonly bin: string;
  readonly cwd: string;
  readonly home: string;
}

async function check({ command, output }: ShownCommand, { bin, cwd, home }: Place): Promise<string> {
  const { code, stdout } = await new Deno.Command("bash", {
    args: ["-c", `set -o pipefail; exec 2>&1\n${command}`],
    cwd,
    env: { HOME: home, PATH: `${bin}:${Deno.env.get("PATH")}`, KUBECONFIG: "/nonexistent", NO_COLOR: "1" },
    stdin: "null",
  }).output();
  const printed = new TextDecoder().decode(stdout);
  assert.equal(code, 0, printed);
  if (Deno.env.get("UPDATE") !== "1" || /^\.\.\.$/m.test(output)) {
    assert.ok(isShown(output, printed), `It prints:\n${printed}`);
  }
  return printed;
}
