/** Reads a saved snapshot from its folder, or from a bare `config_dump.json`. */
import { trimmedEnd } from "../../base/text/mod.ts";
import { MeshError, messageOf } from "../../base/errors.ts";
import type { World } from "../../platform/world.ts";
import { absentPart, isPartName, maxPartBytes, type Part, PART_NAMES, type Snapshot } from "./snapshot.ts";
import { isSnapshotFile, maxFileBytes, savedSnapshot, sizeProblem, snapshotOf } from "./manifest.ts";

/** Reads the folder of a snapshot. Throws a MeshError for a folder without parts, or with another program's manifest. */
export async function readFolder(world: World, path: string): Promise<Snapshot> {
  const entries = await world.files.list(path);
  const names = entries.filter(({ kind }) => kind === "file").map(({ name }) => name);
  const wanted = names.filter(isSnapshotFile);
  if (!wanted.some(isPartName)) {
    const inner = entries.find(({ kind }) => kind === "directory");
    throw new MeshError("The folder is not a snapshot: it does not contain any file of a snapshot", {
      place: { file: path },
      hint: inner === undefined
        ? `a snapshot contains files such as ${PART_NAMES.slice(0, 3).join(", ")}`
        : `name a folder in it, such as "${trimmedEnd(path, "/")}/${inner.name}"`,
    });
  }
  const files = new Map<string, Part>();
  for (const name of wanted) files.set(name, await readPart(world, `${trimmedEnd(path, "/")}/${name}`, name));
  return savedSnapshot(files, path);
}

const CREATES = '"kubectl mesh snapshot POD -o FILE.tar.gz" creates a snapshot';

/** Reads a bare `config_dump.json`. Throws a MeshError for any other file. */
export async function readConfigDump(world: World, path: string): Promise<Snapshot> {
  if (/\.(?:tgz|tar\.gz)$/i.test(path)) {
    throw new MeshError("The file is not a gzip archive, or it is damaged", { place: { file: path }, hint: CREATES });
  }
  const text = await world.files.readText(path, maxPartBytes("config_dump.json"));
  if (!/^\s*\{/.test(text)) {
    throw new MeshError("The file is neither a snapshot nor Envoy's configuration", {
      place: { file: path },
      hint: CREATES,
    });
  }
  return snapshotOf(new Map([["config_dump.json", { text }]]), `"${path}"`);
}

/** Reads a part from a folder. The part is absent if the file is too large or not text. */
async function readPart(world: World, path: string, name: string): Promise<Part> {
  const problem = sizeProblem(name, (await world.files.stat(path))?.size ?? 0);
  if (problem !== undefined) return problem;
  try {
    return { text: await world.files.readText(path, maxFileBytes(name)) };
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    return absentPart("malformed", `${name} cannot be read: ${messageOf(error)}`);
  }
}
