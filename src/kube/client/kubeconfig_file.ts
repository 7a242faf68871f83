import { MeshError } from "../../base/errors.ts";
import { kubeconfigPaths } from "../kubeconfig_paths.ts";
import { isMap, mapAt, mapsAt, newMap, textAt, type ValueMap } from "../../base/value.ts";
import type { World } from "../../platform/mod.ts";
import { parseYaml } from "../../yaml/mod.ts";

/** Maximum size of a kubeconfig in bytes. A kubeconfig with many clusters has about 100 KB. */
const MAX_BYTES = 4 * 1024 * 1024;

/** Reads a kubeconfig file. Rejects with a MeshError if the content is not a mapping. */
export async function readKubeconfig(world: World, file: string): Promise<ValueMap> {
  const value = parseYaml(await world.files.readText(file, MAX_BYTES), file);
  if (value === null) return newMap();
  if (isMap(value)) return value;
  throw new MeshError("The file is not a kubeconfig: the content is not a mapping", { place: { file } });
}

/** The names in a kubeconfig, without duplicates. */
export interface KubeconfigNames {
  readonly contexts: readonly string[];
  readonly clusters: readonly string[];
  readonly users: readonly string[];
  readonly namespaces: readonly string[];
}

/** Reads the names in a kubeconfig without client-node. Rejects if `readKubeconfig` rejects. */
export async function kubeconfigNames(world: World, given: string | undefined): Promise<KubeconfigNames> {
  const paths = given === undefined ? await kubeconfigPaths(world) : [given];
  const files = await Promise.all(paths.map((file) => readKubeconfig(world, file)));
  const all = (key: string) => files.flatMap((file) => mapsAt(file, key));
  const unique = (names: readonly string[]) => [...new Set(names)].filter((name) => name !== "");
  const names = (key: string) => unique(all(key).map((entry) => textAt(entry, "name")));
  const namespaces = unique(all("contexts").map((entry) => textAt(mapAt(entry, "context"), "namespace")));
  return { contexts: names("contexts"), clusters: names("clusters"), users: names("users"), namespaces };
}
