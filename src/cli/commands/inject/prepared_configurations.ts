/**
 * Configurations that this program has read without an error, as JSON. The control plane parses all templates, and so does the first
 * run; later ones read the JSON: a third of the time of a small file.
 */
import { COMMIT } from "../../../build.ts";
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
  const kept = folder === undefined ? undefined : world.files.keptTexts(folder, "prepared-configurations");
  return ({ config, values, mesh }) => {
    if (kept === undefined) return { text: undefined, keep: () => {} };
    const texts = [config.text, values?.text, mesh?.text];
    // The texts themselves are compared: to hash them takes a millisecond.
    const name = `${VERSION}-${commit}-${texts.map((text) => text?.length).join("-")}`;
    const text = contentOf(kept.find(name), texts);
    return {
      text,
      keep(made) {
        const fresh = text === undefined ? made() : undefined;
        if (fresh !== undefined) kept.add(name, `${checksum(fresh)}${texts.join("")}${fresh}`);
        kept.close();
      },
    };
  };
}

const CHECKSUM = 8;

/** What was made of the texts `of`; `undefined` if nothing is kept of them, or if it was damaged. */
function contentOf(all: Iterable<string>, of: readonly (string | undefined)[]): string | undefined {
  for (const text of all) {
    let at = CHECKSUM;
    const isSame = of.every((part = "") => text.startsWith(part, (at += part.length) - part.length));
    const content = text.slice(at);
    if (isSame && text.startsWith(checksum(content))) return content;
  }
  return undefined;
}

/** Only this user can write the file, so it need not resist anybody. */
function checksum(text: string): string {
  const { crc32 } = globalThis.process.getBuiltinModule("node:zlib");
  return crc32(text).toString(16).padStart(CHECKSUM, "0");
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
