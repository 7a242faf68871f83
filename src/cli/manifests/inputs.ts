import { trimmedEnd } from "../../base/text/mod.ts";
import { MeshError, UsageError } from "../../base/errors.ts";
import { shownUrl } from "../../base/shown_url.ts";
import type { PermissionName, World } from "../../platform/world.ts";
import type { ManifestInput } from "../../inject/mod.ts";
import { isPattern, matchingPaths } from "./glob.ts";
import { kustomizationWarning } from "./kustomization.ts";

/** Matches the files that kubectl reads in a directory. A file that the user names may have any suffix. */
const MANIFEST_NAME = /\.(ya?ml|json)$/;

/**
 * Returns the inputs of `-f` in order, by kubectl's rules: files, patterns, directories (with `recursive` also their
 * subdirectories), https URLs, and `-` at most once. Throws one MeshError that names every missing file.
 */
export async function expandInputs(
  world: World,
  names: readonly string[],
  recursive: boolean,
): Promise<ManifestInput[]> {
  const given = names.filter((name) => name !== "").map((name) => name === "/dev/stdin" ? "-" : name);
  if (given.length === 0) {
    throw new UsageError("No input is given", { hint: "name files with -f, or - for standard input" });
  }
  if (given.filter((name) => name === "-").length > 1) {
    throw new UsageError('Standard input ("-f -") is given more than once');
  }
  const missing: string[] = [];
  const inputs = await expandAll(world, given, recursive, missing);
  if (missing.length > 0) throw new MeshError(`Cannot read ${missing.join(", ")}: no such file or directory`);
  return inputs;
}

/** Returns the permissions that a read-only command keeps while it reads untrusted manifests and templates. */
export function readingPermissions(
  { filename }: { readonly filename: readonly string[] },
  api: { readonly permissions: readonly PermissionName[] } | undefined,
): PermissionName[] {
  const isRemote = filename.some((name) => name.startsWith("https://"));
  return [...new Set<PermissionName>(["read", "env", ...isRemote ? ["net"] as const : [], ...api?.permissions ?? []])];
}

async function expandAll(
  world: World,
  names: readonly string[],
  recursive: boolean,
  missing: string[],
): Promise<ManifestInput[]> {
  const inputs: ManifestInput[] = [];
  for (const name of names) {
    for (const input of await expand(world, name, recursive, missing)) inputs.push(input);
  }
  return inputs;
}

async function expand(world: World, name: string, recursive: boolean, missing: string[]): Promise<ManifestInput[]> {
  if (name === "-") return [{ file: "standard input", chunks: () => world.stdin.chunks() }];
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(name)) return [urlInput(world, name)];
  const status = await world.files.stat(name);
  if (status === undefined) {
    const matching = isPattern(name) ? await matchingPaths(world, name) : [];
    if (matching.length > 0) return await expandAll(world, matching, recursive, missing);
    missing.push(`"${name}"`);
    return [];
  }
  if (status.kind === "file") return [fileInput(world, name, name.replace(/^.*\//s, ""))];
  // A pipe or a device has no `name`, because an output cannot replace it.
  if (status.kind === "other") return [{ file: name, chunks: () => world.files.chunks(name) }];
  const folder = trimmedEnd(name, "/", 1);
  const found = await manifestsIn(world, folder, { recursive, root: folder });
  if (found.length > 0) return found;
  throw new MeshError(`No manifests in the directory "${name}": it contains no .yaml, .yml or .json file`, {
    ...(recursive ? {} : { hint: "use -R to read its subdirectories too" }),
  });
}

function fileInput(world: World, path: string, name: string, warning?: string): ManifestInput {
  return { file: path, name, warning, chunks: () => world.files.chunks(path) };
}

/** Returns the input for an https URL. Refuses others: with http, anyone on the network path could change the manifests. */
function urlInput(world: World, url: string): ManifestInput {
  if (!url.startsWith("https://")) {
    throw new UsageError(`Cannot read "${shownUrl(url)}": only https URLs are allowed`);
  }
  return {
    file: shownUrl(url),
    async *chunks() {
      yield* await world.network.fetch(url);
    },
  };
}

interface Reading {
  readonly recursive: boolean;
  /** The folder that the user named. */
  readonly root: string;
}

async function manifestsIn(world: World, folder: string, reading: Reading): Promise<ManifestInput[]> {
  const { recursive, root } = reading;
  const inputs: ManifestInput[] = [];
  const entries = await world.files.list(folder);
  let warning = kustomizationWarning(folder, entries);
  for (const entry of entries) {
    const path = `${folder}/${entry.name}`;
    if (entry.kind === "directory" && recursive) {
      for (const input of await manifestsIn(world, path, reading)) inputs.push(input);
    }
    if (entry.kind !== "file" || !MANIFEST_NAME.test(entry.name)) continue;
    inputs.push(fileInput(world, path, path.slice(root.length + 1), warning));
    warning = undefined;
  }
  return inputs;
}
