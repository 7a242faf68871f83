/**
 * Runs the examples in a page of docs/ (`docs_page.ts`) in a new folder. UPDATE=1 writes the new outputs to the page.
 */
import assert from "node:assert/strict";
import { examplesOf, isShown, type ShownCommand, withOutputs } from "./docs_page.ts";
import { helmProgram, kustomizeProgram } from "./programs/gitops.ts";
import { MESH_COMMAND } from "./programs/mesh.ts";
import { temporaryFolder } from "./temporary_folder.ts";
import { needsProgram } from "./test_when.ts";
import { until } from "./until.ts";

const ROOT = decodeURIComponent(new URL("../../", import.meta.url).pathname);

/** A program that commands may need: the reason if it is missing, and its path if it must be built. */
export interface Program {
  readonly missing: string | undefined;
  readonly path?: () => Promise<string>;
}

/** The environment in which the commands of a page run. */
export interface PageWorld {
  /** Additional programs by name. */
  readonly programs?: Readonly<Record<string, Program>>;
  readonly env?: Readonly<Record<string, string>>;
  /** Skips blocks with this need; a different test runs them. */
  readonly without?: string;
  /** Whether a check is repeated until it prints what the page shows. */
  readonly settles?: boolean;
  /** Replaces texts that differ in each run with the texts in the page. */
  readonly shown?: (printed: string) => string;
}

const PROGRAMS: Readonly<Record<string, Program>> = {
  helm: { missing: needsProgram("go"), path: helmProgram },
  kustomize: { missing: needsProgram("go"), path: kustomizeProgram },
  kubectl: { missing: needsProgram("kubectl") },
};

/** Stands in for a kubectl that is not installed. It runs only this plugin. */
const PLUGIN_ALONE = '#!/bin/sh\n[ "$1" = mesh ] && shift && exec kubectl-mesh "$@"\nexit 127\n';

/** Returns the paths of README.md and the pages of docs/ that match a pattern. */
export function pagesWith(pattern: RegExp): string[] {
  const pages = [...Deno.readDirSync(`${ROOT}docs`)].map(({ name }) => `${ROOT}docs/${name}`);
  return [`${ROOT}README.md`, ...pages]
    .filter((path) => path.endsWith(".md") && pattern.test(Deno.readTextFileSync(path))).sort();
}

/** Runs all examples in a page, each as a test step. */
export async function runPage(path: string, t: Deno.TestContext, world: PageWorld): Promise<void> {
  await using folder = await temporaryFolder();
  const place = { bin: `${folder.path}/bin`, cwd: `${folder.path}/page`, home: folder.path };
  for (const each of [place.bin, place.cwd]) await Deno.mkdir(each);
  await Deno.symlink(`${ROOT}examples`, `${place.cwd}/examples`);
  await Deno.symlink(MESH_COMMAND, `${place.bin}/kubectl-mesh`);
  if (needsProgram("kubectl") !== undefined) {
    await Deno.writeTextFile(`${place.bin}/kubectl`, PLUGIN_ALONE, { mode: 0o755 });
  }
  const programs = { ...PROGRAMS, ...world.programs };
  const page = await Deno.readTextFile(path);
  const outputs = new Map<number, string>();
  for (const example of examplesOf(page)) {
    if ("file" in example) {
      await Deno.writeTextFile(`${place.cwd}/${example.file}`, example.text);
      continue;
    }
    const { line, command, needs } = example;
    if (world.without !== undefined && needs.includes(world.without)) continue;
    const missing = needs.map((name) => programNamed(name, programs).missing).find((reason) => reason !== undefined);
    const name = `line ${line}: ${command}`;
    await t.step({
      name: missing === undefined ? name : `${name} [skipped: ${missing}]`,
      ignore: missing !== undefined,
      fn: async () => {
        for (const need of needs) await provide(need, programNamed(need, programs), place.bin);
        outputs.set(line, await check(example, place, world));
      },
    });
  }
  if (Deno.env.get("UPDATE") === "1") await Deno.writeTextFile(path, withOutputs(page, outputs));
  await t.step("a checkout ignores the files of the page", async () => {
    assert.deepEqual(await notIgnored(place.cwd), []);
  });
}

/** Returns the entries of a folder that .gitignore does not name, each with a slash before its name. */
async function notIgnored(folder: string): Promise<string[]> {
  const ignored = (await Deno.readTextFile(`${ROOT}.gitignore`)).split("\n");
  const entries = await Array.fromAsync(Deno.readDir(folder));
  const lines = entries.filter(({ isSymlink }) => !isSymlink)
    .map(({ name, isDirectory }) => `/${name}${isDirectory ? "/" : ""}`);
  return lines.filter((line) => !ignored.includes(line)).toSorted();
}

function programNamed(name: string, programs: Readonly<Record<string, Program>>): Program {
  return programs[name] ?? assert.fail(`The page needs the program "${name}", which no test provides`);
}

async function provide(name: string, program: Program, bin: string): Promise<void> {
  const path = await program.path?.();
  if (path === undefined) return;
  await Deno.remove(`${bin}/${name}`).catch(() => {});
  await Deno.symlink(path, `${bin}/${name}`);
}

interface Place {
  readonly bin: string;
  readonly cwd: string;
  readonly home: string;
}

async function check(example: ShownCommand, place: Place, world: PageWorld): Promise<string> {
  const { command, output, fails } = example;
  const isUpdated = Deno.env.get("UPDATE") === "1" && !/^\.\.\.$/m.test(output);
  const isRight = ({ code, printed }: Printed) => (code !== 0) === fails && (isUpdated || isShown(output, printed));
  let last = await run(command, place, world);
  // The API server's caches are updated some milliseconds after an object changes.
  if (world.settles && command.startsWith("kubectl mesh check") && !isRight(last)) {
    await until(async () => isRight(last = await run(command, place, world)), "Never: what the page shows").catch(
      () => {},
    );
  }
  assert.equal(last.code !== 0, fails, `exit code ${last.code}\n${last.printed}`);
  assert.ok(isRight(last), `It prints:\n${last.printed}`);
  return last.printed;
}

interface Printed {
  readonly code: number;
  readonly printed: string;
}

async function run(command: string, { bin, cwd, home }: Place, world: PageWorld): Promise<Printed> {
  const { code, stdout } = await new Deno.Command("bash", {
    args: ["-c", `set -o pipefail; exec 2>&1\n${command}`],
    cwd,
    env: {
      HOME: home,
      KUBECONFIG: "/nonexistent",
      NO_COLOR: "1",
      ...world.env,
      PATH: `${bin}:${Deno.env.get("PATH")}`,
    },
    stdin: "null",
  }).output();
  const printed = new TextDecoder().decode(stdout);
  return { code, printed: world.shown?.(printed) ?? printed };
}
