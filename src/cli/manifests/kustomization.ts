import { EXIT, MeshError } from "../../base/errors.ts";
import { withShownUrls } from "../../base/shown_url.ts";
import type { DirectoryEntry, World } from "../../platform/world.ts";
import type { ManifestInput } from "../../inject/mod.ts";

const NAMES = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/** Returns a warning if the folder is a kustomization, whose files should not be read one by one. */
export function kustomizationWarning(folder: string, entries: readonly DirectoryEntry[]): string | undefined {
  if (!entries.some(({ name }) => NAMES.includes(name))) return undefined;
  return `The folder "${folder}" is a kustomization, but its files are read one by one: ` +
    `build it with -k ${folder}`;
}

const BUILDERS = [["kubectl", "kustomize"], ["kustomize", "build"]] as const;

/**
 * Builds a kustomization with kubectl, or with kustomize if kubectl is missing. Throws a MeshError with the program's
 * message, or with the names of the missing programs.
 */
export async function buildKustomization(world: World, folder: string): Promise<ManifestInput> {
  // kustomize also takes the URL of a repository, which may contain a token.
  const shown = withShownUrls(folder);
  const failed = `Cannot build the kustomization "${shown}"`;
  for (const [command, verb] of BUILDERS) {
    const { code, stdout, stderr } = await world.processes.run({ command, args: [verb, folder] });
    if (code === 0) return { file: shown, chunks: () => ReadableStream.from([new TextEncoder().encode(stdout)]) };
    if (code !== EXIT.notFound) throw new MeshError(`${failed}: ${withShownUrls(reasonIn(stderr))}`);
  }
  throw new MeshError(`${failed}: neither kubectl nor kustomize is on PATH`);
}

/** Returns the error in the output of a builder. kubectl prints some errors as a record of its log (klog). */
function reasonIn(stderr: string): string {
  const [, recorded] = stderr.trimEnd().split('] "command failed" err="');
  if (recorded === undefined) return stderr.replace(/^error: /i, "").trim();
  return recorded.replace(/"$/, "").replace(/\\(["\\])/g, "$1");
}
