/** Adds the plugin to the node's network configurations, and removes it. */
import { MeshError, messageOf } from "../../base/errors.ts";
import { parseJson } from "../../base/json.ts";
import type { ValueMap } from "../../base/value.ts";
import { sameValue } from "../../base/values/mod.ts";
import type { World } from "../../platform/mod.ts";
import { alone, hasPlugin, isConfiguration, PLUGIN, withoutPlugin, withPlugin } from "./conflist.ts";
import type { InstallOptions } from "./options.ts";

/** Matches the file name extensions that container runtimes read (libcni, `ConfFiles`). */
const ENDINGS = /\.(?:conf|conflist|json)$/;
/** The mode of a new file. Only the owner can read it, because configurations of other plugins may contain secrets. */
const MODE = 0o600;

type Choice = Pick<InstallOptions, "netFolder" | "confName" | "isChained">;

/** The path of the configuration, and whether it was changed. */
export interface Written {
  readonly path: string;
  readonly changed: boolean;
}

/**
 * Adds the plugin, in one step, to the configuration that the container runtime uses, unless the configuration already
 * has the plugin. Rejects with a `MeshError` if the node has no configuration yet, or if the configuration cannot be
 * changed.
 */
export async function addPlugin(world: World, choice: Choice, entry: ValueMap): Promise<Written> {
  if (!choice.isChained) {
    return await write(world, `${choice.netFolder}/${choice.confName ?? `YYY-${PLUGIN}.conf`}`, alone(entry));
  }
  const path = await chosen(world, choice);
  const text = await world.files.readText(path);
  const changed = written(path, () => withPlugin(text, entry));
  if (!path.endsWith(".conf")) return await write(world, path, changed);
  // A list has the extension `.conflist`. The old `.conf` file would come first in the order, so it is removed.
  const result = await write(world, `${path}list`, changed);
  await world.files.remove(path);
  return { ...result, changed: true };
}

/**
 * Removes the plugin from all configurations and returns their paths. Rejects with a `MeshError` if a file cannot be
 * changed.
 */
export async function removePlugin(world: World, { netFolder, isChained }: Choice): Promise<readonly string[]> {
  const changed: string[] = [];
  for (const path of await configurations(world, netFolder)) {
    const text = await world.files.readText(path);
    if (!hasPlugin(text)) continue;
    if (isChained) await write(world, path, withoutPlugin(text));
    else await world.files.remove(path);
    changed.push(path);
  }
  return changed;
}

async function chosen(world: World, { netFolder, confName }: Choice): Promise<string> {
  const all = await configurations(world, netFolder);
  // An earlier installation may have converted the file to a list.
  const names = confName === undefined ? undefined : [confName, `${confName}list`, confName.replace(/list$/, "")];
  const found = all.find((path) => names === undefined || names.some((name) => path === `${netFolder}/${name}`));
  if (found !== undefined) return found;
  throw new MeshError(`The node has no network configuration ${confName === undefined ? "" : `"${confName}" `}yet`, {
    hint: `the network plugin writes the configuration to the folder that is mounted at "${netFolder}"`,
  });
}

/** Returns the paths of the valid configurations, in the order in which container runtimes choose. */
async function configurations({ files }: World, folder: string): Promise<readonly string[]> {
  if (await files.stat(folder) === undefined) return [];
  const entries = (await files.list(folder)).filter(({ name, kind }) => kind === "file" && ENDINGS.test(name));
  const valid = await Promise.all(entries.map(async ({ name }) => {
    const path = `${folder}/${name}`;
    // Another program may have deleted the file after the listing.
    const text = await files.readText(path).catch(() => "");
    return isConfiguration(text) ? [path] : [];
  }));
  return valid.flat();
}

async function write({ files }: World, path: string, text: string): Promise<Written> {
  const exists = await files.stat(path) !== undefined;
  // Compares values, because other programs format the same list differently.
  const [old, next] = [exists ? parseJson(await files.readText(path)) : undefined, parseJson(text)];
  if (old !== undefined && next !== undefined && sameValue(old, next)) return { path, changed: false };
  if (exists) files.writeText(path, text);
  else files.writeText(path, text, MODE);
  return { path, changed: true };
}

function written(path: string, make: () => string): string {
  try {
    return make();
  } catch (error) {
    throw new MeshError(`Cannot change "${path}": ${messageOf(error)}`);
  }
}
