/** The files that kubectl reads, and their lists as one (Kubernetes, "Organizing Cluster Access Using kubeconfig Files"). */
import { MeshError } from "../../errors.ts";
import { isList, isMap, newMap, type Value, type ValueMap } from "../../value.ts";
import type { World } from "../../world/mod.ts";
import { parseYaml } from "../../yaml/mod.ts";

/** An entry of a list, with the folder that its relative paths start from. */
export interface Entry {
  readonly fields: ValueMap;
  readonly folder: string;
  readonly file: string;
}

/** All files as one: the first that names something wins. */
export interface Kubeconfig {
  readonly clusters: ReadonlyMap<string, Entry>;
  readonly users: ReadonlyMap<string, Entry>;
  readonly contexts: ReadonlyMap<string, Entry>;
  readonly currentContext: string;
  /** The files that were read. */
  readonly files: readonly string[];
}

/** A kubeconfig with many clusters is some 100 KB. */
const MAX_BYTES = 4 * 1024 * 1024;

/**
 * Reads what `--kubeconfig` names, else the files of `KUBECONFIG`, else `~/.kube/config`; `undefined` if none is there.
 * Errors: a MeshError if the named file is absent, and for a file that cannot be read as one.
 */
export async function readKubeconfig(world: World, named: string | undefined): Promise<Kubeconfig | undefined> {
  const files = named === undefined ? await present(world, usualPaths(world)) : [named];
  if (files.length === 0) return undefined;
  const clusters = new Map<string, Entry>();
  const users = new Map<string, Entry>();
  const contexts = new Map<string, Entry>();
  let currentContext = "";
  for (const file of files) {
    const config = await readFile(world, file);
    collect(clusters, config, { list: "clusters", field: "cluster", file });
    collect(users, config, { list: "users", field: "user", file });
    collect(contexts, config, { list: "contexts", field: "context", file });
    const current = config["current-context"];
    if (currentContext === "" && typeof current === "string") currentContext = current;
  }
  return { clusters, users, contexts, currentContext, files };
}

function usualPaths({ env, machine }: World): string[] {
  const listed = (env.get("KUBECONFIG") ?? "").split(machine.os === "windows" ? ";" : ":").filter((path) =>
    path !== ""
  );
  if (listed.length > 0) return listed;
  const home = env.get("HOME") ?? env.get("USERPROFILE") ?? "";
  return home === "" ? [] : [`${home}/.kube/config`];
}

async function present({ files }: World, paths: readonly string[]): Promise<string[]> {
  const facts = await Promise.all(paths.map((path) => files.facts(path)));
  return paths.filter((_, index) => facts[index] !== undefined);
}

async function readFile(world: World, file: string): Promise<ValueMap> {
  const value = parseYaml(await world.files.readText(file, MAX_BYTES), file);
  if (value === null) return newMap();
  if (isMap(value)) return value;
  throw new MeshError("This is no kubeconfig: it is not a mapping", { place: { file } });
}

interface Part {
  readonly list: string;
  readonly field: string;
  readonly file: string;
}

function collect(into: Map<string, Entry>, config: ValueMap, { list, field, file }: Part): void {
  const entries: Value = config[list] ?? [];
  if (!isList(entries)) throw new MeshError(`"${list}" must be a list`, { place: { file, field: list } });
  for (const entry of entries) {
    if (!isMap(entry) || typeof entry["name"] !== "string" || into.has(entry["name"])) continue;
    const fields = entry[field];
    into.set(entry["name"], { fields: isMap(fields) ? fields : newMap(), folder: folderOf(file), file });
  }
}

function folderOf(file: string): string {
  const end = Math.max(file.lastIndexOf("/"), file.lastIndexOf("\\"));
  return end < 0 ? "." : file.slice(0, end);
}
