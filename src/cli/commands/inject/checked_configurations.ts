/**
 * Configurations whose templates this program has parsed without an error. The control plane parses all templates, and so does
 * the first run; later ones parse what the pods need, a fifth of the time of a small file.
 */
import { COMMIT } from "../../../build.ts";
import { nodeCrypto } from "../../../core/node_crypto.ts";
import type { World } from "../../../core/world/world.ts";
import { VERSION } from "../../../version.ts";

/** What is known of one configuration. */
interface Check {
  /** Whether an earlier run parsed all its templates. */
  readonly isDone: boolean;
  /** Keeps for later runs that this one did. */
  keep(): void;
}

/** Opens what earlier runs kept, while that is permitted. Nothing is kept without a folder for it, or if the user does not want it. */
export function checkedConfigurations(world: World, commit = COMMIT): (config: string) => Check {
  const folder = cacheFolder(world, commit);
  const kept = folder === undefined ? undefined : world.files.keptLines(folder, "checked-configurations");
  return (config) => {
    if (kept === undefined) return { isDone: false, keep: () => {} };
    // Another build may know other functions.
    const key = nodeCrypto().createHash("sha256").update(`${VERSION} ${commit}\n${config}`).digest("hex");
    const isDone = kept.has(key);
    return {
      isDone,
      keep: () => {
        if (!isDone) kept.add(key);
        kept.close();
      },
    };
  };
}

const MEANS_NO: readonly string[] = ["", "0", "false"];

/** XDG Base Directory Specification: `$XDG_CACHE_HOME`, else `~/.cache`. Sources that are being changed have no version of their own. */
function cacheFolder({ env, machine }: World, commit: string | undefined): string | undefined {
  if (commit === undefined || commit.endsWith("-dirty") || machine.uid === undefined) return undefined;
  if (!MEANS_NO.includes(env.get("MESH_CACHE_DISABLED") ?? "")) return undefined;
  const folders = [env.get("XDG_CACHE_HOME"), `${env.get("HOME") ?? ""}/.cache`];
  // A relative path is invalid there, and no home is not the root.
  const parent = folders.find((path) => path?.startsWith("/") && path !== "/.cache");
  return parent === undefined ? undefined : `${parent}/kubectl-mesh`;
}
