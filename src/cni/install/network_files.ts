/** The plugin in the node's network configurations: added, found, taken out. */
import { MeshError, messageOf } from "../../base/errors.ts";
import { parseJson } from "../../base/json.ts";
import type { ValueMap } from "../../base/value.ts";
import { sameValue } from "../../base/values/mod.ts";
import type { World } from "../../platform/mod.ts";
import { alone, hasPlugin, isConfiguration, PLUGIN, withoutPlugin, withPlugin } from "./conflist.ts";
import type { InstallOptions } from "./options.ts";

/** The endings that container runtimes read (libcni, `ConfFiles`). */
const ENDINGS = /\.(?:conf|conflist|json)$/;
/** Only the owner reads it: configurations of other plugins may have secrets. */
const MODE = 0o600;

type Choice = Pick<InstallOptions, "netFolder" | "confName" | "isChained">;

/** What was done to the configuration. */
export interface Written {
  readonly path: string;
  readonly changed: boolean;
}

/**
 * Puts the plugin into the configuration that the container runtime uses, in one step, unless it is there already. Rejects
 * with a `MeshError` if there is none yet, or if it cannot be changed.
 */
export async function addPlugin(world: World, choice: Choice, entry: ValueMap): Promise<Written> {
  if (!choice.isChained) {
    return await write(world, `${choice.netFolder}/${choice.confName ?? `YYY-${PLUGIN}.conf`}`, alone(entry));
  }
  const path = await chosen(world, choice);
  const text = await world.files.readText(path);
  const changed = written(path, () => withPlugin(text, entry));
  if (!path.endsWith(".conf")) return await write(world, path, changed);
  // A list has another ending. The file of one plugin would come before it.
  const result = await write(world, `${path}list`, changed);
  await world.files.remove(path);
  return { ...result, changed: true };
}

/** Takes the plugin out of all configurations. Rejects with a `MeshError` if one cannot be changed. */
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
  // Another installer, or this one, may have made a list of it.
  const names = confName === undefined ? undefined : [confName, `${confName}list`, confName.replace(/list$/, "")];
  const found = all.find((path) => names === undefined || names.some((name) => path === `${netFolder}/${name}`));
  if (found !== undefined) return found;
  throw new MeshError(`The node has no network configuration ${confName === undefined ? "" : `"${confName}" `}yet`, {
    hint: `the network plugin writes it into the folder that is mounted at "${netFolder}"`,
  });
}

/** The valid configurations, in the order in which runtimes choose one. */
async function configurations({ files }: World, folder: string): Promise<readonly string[]> {
  if (await files.stat(folder) === undefined) return [];
  const entries = (await files.list(folder)).filter(({ name, kind }) => kind === "file" && ENDINGS.test(name));
  const valid = await Promise.all(entries.map(async ({ name }) => {
    const path = `${folder}/${name}`;
    // The file may be gone by now.
    const text = await files.readText(path).catch(() => "");
    return isConfiguration(text) ? [path] : [];
  }));
  return valid.flat();
}

async function write({ files }: World, path: string, text: string): Promise<Written> {
  const exists = await files.stat(path) !== undefined;
  // Other programs write the same list in another form.
  if (exists && isSame(await files.readText(path), text)) return { path, changed: false };
  if (exists) files.writeText(path, text);
  else files.writeText(path, text, MODE);
  return { path, changed: true };
}

function isSame(before: string, after: string): boolean {
  const [old, next] = [parseJson(before), parseJson(after)];
  return old !== undefined && next !== undefined && sameValue(old, next);
}

function written(path: string, make: () => string): string {
  try {
    return make();
  } catch (error) {
    throw new MeshError(`Cannot change "${path}": ${messageOf(error)}`);
  }
}
