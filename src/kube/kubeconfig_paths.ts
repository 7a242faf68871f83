import type { World } from "../platform/mod.ts";

/**
 * Returns the existing kubeconfig files in KUBECONFIG, or by default `~/.kube/config` (Kubernetes, "Organizing Cluster
 * Access Using kubeconfig Files").
 */
export async function kubeconfigPaths(world: Pick<World, "env" | "machine" | "files">): Promise<string[]> {
  const paths = usualPaths(world);
  const found = await Promise.all(paths.map((path) => world.files.stat(path)));
  return paths.filter((_, index) => found[index] !== undefined);
}

function usualPaths({ env, machine }: Pick<World, "env" | "machine">): string[] {
  const separator = machine.os === "windows" ? ";" : ":";
  const listed = (env.get("KUBECONFIG") ?? "").split(separator).filter((path) => path !== "");
  if (listed.length > 0) return listed;
  const home = env.get("HOME") ?? env.get("USERPROFILE") ?? "";
  return home === "" ? [] : [`${home}/.kube/config`];
}
