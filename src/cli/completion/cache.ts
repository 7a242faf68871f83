/** Cache of the cluster's names from earlier completions, so that a second Tab is immediate even if the cluster is slow. */
import { createHash } from "node:crypto";
import { parseJson } from "../../base/json.ts";
import { isList, isMap, listAt, textAt } from "../../base/value.ts";
import { kubeconfigPaths } from "../../kube/kubeconfig_paths.ts";
import type { World } from "../../platform/world.ts";

/** Milliseconds during which cached names are used without a new request. */
const FRESH = 30_000;
/** Milliseconds after which cached names are discarded: one day. */
const OLD = 86_400_000;
/**
 * Maximum number of cached lists, and maximum size of the file in bytes. A larger file is replaced without being read.
 */
const MAX_ENTRIES = 32;
const MAX_BYTES = 512 * 1024;

/**
 * Whether a name is a Kubernetes name or label value, optionally after a kind or `rev:`. Other text could affect the
 * shell or terminal, or be a flag.
 */
export function isSafeName(name: string): boolean {
  return name.length <= 320 && /^\w[\w.:/-]*$/.test(name);
}

interface Entry {
  readonly key: string;
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly names: readonly string[];
}

/**
 * Opens the cache; `undefined` if the environment names neither a cache folder nor a home folder. Each context and user
 * has its own names, so the key contains the kubeconfig and `asked`, which is everything else that determines the
 * names. Never fails; an unreadable file counts as empty.
 */
export async function openNameCache(world: World, kubeconfig: string | undefined, asked: unknown) {
  const { env, files, clock } = world;
  const home = env.get("HOME") ?? env.get("USERPROFILE") ?? "";
  const folder = env.get("KUBECACHEDIR") || (home === "" ? "" : `${home}/.kube/cache`);
  if (folder === "") return undefined;
  const key = await keyOf(world, kubeconfig, asked);
  const entries = entriesOf(await files.readText(fileIn(folder), MAX_BYTES).catch(() => "[]"));
  return {
    /** Returns the cached names if they are at most one day old. `isFresh`: no new request is necessary. */
    found() {
      const entry = entries.find((each) => each.key === key);
      const age = entry === undefined ? Infinity : clock.now().getTime() - entry.time;
      return entry === undefined || age < 0 || age > OLD ? undefined : { names: entry.names, isFresh: age <= FRESH };
    },
    /** Stores names in a file that only this user can read. Ignores failures: the next Tab asks the cluster again. */
    async keep(names: readonly string[]) {
      const own: Entry = { key, time: clock.now().getTime(), names };
      const next = [own, ...entries.filter((each) => each.key !== key)];
      try {
        await files.makeFolder(folder);
        files.writeText(fileIn(folder), JSON.stringify(next.slice(0, MAX_ENTRIES)), 0o600);
      } catch {
        // Nothing is cached.
      }
    },
  };
}

async function keyOf(world: World, kubeconfig: string | undefined, asked: unknown): Promise<string> {
  const hash = createHash("sha256").update(JSON.stringify([asked, world.env.get("KUBERNETES_SERVICE_HOST")]));
  for (const path of kubeconfig === undefined ? await kubeconfigPaths(world) : [kubeconfig]) {
    hash.update(await world.files.readText(path).catch(() => ""));
  }
  return hash.digest("hex");
}

function fileIn(folder: string): string {
  return `${folder}/kubectl-mesh-names.json`;
}

/** Parses the entries of the file. Checks every field, because another program may have written the file. */
function entriesOf(text: string): Entry[] {
  const value = parseJson(text);
  const all = isList(value) ? value.filter(isMap).slice(0, MAX_ENTRIES) : [];
  return all.map((entry) => ({
    key: textAt(entry, "key"),
    time: typeof entry["time"] === "number" ? entry["time"] : 0,
    names: listAt(entry, "names").filter((name): name is string => typeof name === "string" && isSafeName(name)),
  }));
}
