/**
 * Builds Istio's own programs of a release from its tag. The Go module proxy lacks most versions of Istio's modules
 * that releases require: the nearest patch of the proxy replaces them.
 */
import { CACHE, makeOnce } from "../support/programs/cache.ts";
import { BUILD_FLAGS } from "../support/programs/go_program.ts";
import { mustRun, run } from "../../tools/compile/run.ts";
import { archived } from "./repository.ts";

/** Programs of a release. */
export interface IstioPrograms {
  /** Paths of the programs. */
  readonly discovery: string;
  readonly agent: string;
  /** The agent's template of Envoy's bootstrap, a file of Istio's image. */
  readonly bootstrap: string;
  /** Modules that replace the required ones, such as `istio.io/api v1.22.5`. */
  readonly replaced: readonly string[];
}

/** All sources except a large binary file, which copies of the repository may lack. */
const SOURCES = [".", ":(exclude)pkg/test/fakes"];
const PROGRAMS = ["pilot-discovery", "pilot-agent"];
const REPLACEABLE = ["istio.io/api", "istio.io/client-go"];

/** Builds the programs on first use, which takes minutes. Throws with the end of the compiler's output. */
export async function istioPrograms(repository: string, release: string): Promise<IstioPrograms> {
  const folder = `${CACHE}/istio/${release}`;
  const built = await makeOnce(`${folder}/built.json`, async (file) => {
    await using source = await archived(repository, release, SOURCES);
    const replaced = await replaceModules(source.folder, release);
    await resolve(source.folder);
    for (const program of PROGRAMS) await build(source.folder, program, folder);
    await Deno.copyFile(`${source.folder}/tools/packaging/common/envoy_bootstrap.json`, `${folder}/bootstrap.json`);
    await Deno.writeTextFile(file, JSON.stringify(replaced));
  });
  return {
    discovery: `${folder}/pilot-discovery`,
    agent: `${folder}/pilot-agent`,
    bootstrap: `${folder}/bootstrap.json`,
    replaced: JSON.parse(await Deno.readTextFile(built)),
  };
}

/** Downloads all modules that the programs need. The error names only the first module that the proxy lacks. */
export async function resolve(source: string): Promise<void> {
  const args = ["list", "-mod=mod", "-deps", ...PROGRAMS.map((program) => `./pilot/cmd/${program}`)];
  const { ok, text } = await run(["go", "-C", source, ...args]);
  if (ok) return;
  const [, module] = /(\S+@v[^\s:]+): (?:reading|verifying|unrecognized|invalid|unknown)/.exec(text) ?? [];
  throw new Error(module === undefined ? text : `The module proxy has no ${module}`);
}

/** Builds a program with low priority. */
async function build(source: string, program: string, folder: string): Promise<void> {
  const args = ["build", "-mod=mod", ...BUILD_FLAGS, "-o", `${folder}/${program}`, `./pilot/cmd/${program}`];
  await mustRun(["nice", "-n", "15", "go", "-C", source, ...args]);
}

/** Requires another patch of each module that the proxy lacks. */
export async function replaceModules(source: string, release: string): Promise<readonly string[]> {
  const text = await Deno.readTextFile(`${source}/go.mod`);
  const replaced: string[] = [];
  for (const module of REPLACEABLE) {
    const [, wanted = ""] = new RegExp(`^\\s*${module.replaceAll(".", "\\.")} (\\S+)`, "m").exec(text) ?? [];
    if (await isServed(module, wanted)) continue;
    const version = await nearest(module, release);
    await mustRun(["go", "-C", source, "mod", "edit", `-replace=${module}=${module}@${version}`]);
    replaced.push(`${module} ${version}`);
  }
  return replaced;
}

/** The nearest patch of the release's minor version: older patches first, then newer ones. */
async function nearest(module: string, release: string): Promise<string> {
  const [, minor = "", patch = ""] = /^(\d+\.\d+)\.(\d+)/.exec(release) ?? [];
  const older = Array.from({ length: Number(patch) + 1 }, (_, index) => Number(patch) - index);
  for (const each of [...older, Number(patch) + 1, Number(patch) + 2]) {
    if (await isServed(module, `v${minor}.${each}`)) return `v${minor}.${each}`;
  }
  throw new Error(`The module proxy has no ${module} of ${minor}`);
}

async function isServed(module: string, version: string): Promise<boolean> {
  const args = ["mod", "download", `${module}@${version}`];
  return (await new Deno.Command("go", { args, cwd: "/", stdin: "null", stdout: "null", stderr: "null" }).output())
    .success;
}
