/**
 * Configurations that this program has read without an error, as JSON. The control plane parses all templates, and so does the first
 * run; later ones read the JSON: a third of the time of a small file.
 */
import { COMMIT } from "../../../build.ts";
import { nodeCrypto } from "../../../core/node_crypto.ts";
import type { World } from "../../../core/world/world.ts";
import type { Configuration } from "../../../inject/mod.ts";
import { VERSION } from "../../../version.ts";

/** What is kept of one configuration. */
interface Kept {
  /** What an earlier run of this program kept. */
  readonly text: string | undefined;
  /** Keeps a text for later runs, if none is kept. */
  keep(text: () => string | undefined): void;
}

/** Opens what earlier runs kept, while that is permitted. Nothing is kept without a folder for it, or if the user does not want it. */
export function preparedConfigurations(world: World, commit = COMMIT): (configuration: Configuration) => Kept {
  const folder = cacheFolder(world, commit);
  const lines = folder === undefined ? undefined : world.files.keptLines(folder, "configurations");
  return (configuration) => {
    if (lines === undefined) return { text: undefined, keep: () => {} };
    const key = keyOf(configuration, commit);
    const text = contentOf(lines.find(key) ?? "");
    return {
      text,
      keep(made) {
        const fresh = text === undefined ? made() : undefined;
        if (fresh !== undefined) lines.add(`${key} ${sha256(fresh)} ${fresh}`);
        lines.close();
      },
    };
  };
}

/** All that an injector is made of. Another build may know other functions. */
function keyOf({ config, values, mesh }: Configuration, commit: string | undefined): string {
  const texts = [config.text, values?.text, mesh?.text];
  return sha256(`${VERSION} ${commit} ${texts.map((text) => text?.length).join()}\n`, ...texts);
}

const HASH = 64;

/** `undefined` if the line was damaged. */
function contentOf(line: string): string | undefined {
  const text = line.slice(HASH + 1);
  return line !== "" && line.startsWith(`${sha256(text)} `) ? text : undefined;
}

function sha256(...texts: readonly (string | undefined)[]): string {
  const hash = nodeCrypto().createHash("sha256");
  for (const text of texts) if (text !== undefined) hash.update(text);
  return hash.digest("hex");
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
