/** A saved snapshot: its folder, or a bare `config_dump.json`. */
import { trimmedEnd } from "../../base/text/mod.ts";
import { MeshError, messageOf } from "../../base/errors.ts";
import type { World } from "../../platform/world.ts";
import { absentPart, isPartName, maxPartBytes, type Part, PART_NAMES, type Snapshot } from "./snapshot.ts";
import { MANIFEST, manifestProblem, MAX_MANIFEST_BYTES, snapshotOf } from "./manifest.ts";

/** Reads the folder of a snapshot. Errors: a MeshError for a folder without any part, or with a manifest of another kind. */
export async function readFolder(world: World, path: string): Promise<Snapshot> {
  const entries = await world.files.list(path);
  const names = entries.filter(({ kind }) => kind === "file").map(({ name }) => name);
  const wanted = names.filter((name) => isPartName(name) || name === MANIFEST);
  if (!wanted.some(isPartName)) {
    throw new MeshError("The folder is no snapshot: it has none of its files", {
      place: { file: path },
      hint: `a snapshot has ${PART_NAMES.slice(0, 3).join(", ")} and others`,
    });
  }
  const files = new Map<string, Part>();
  for (const name of wanted) files.set(name, await readPart(world, `${trimmedEnd(path, "/")}/${name}`, name));
  const manifest = files.get(MANIFEST);
  const problem = manifest === undefined ? undefined : manifestProblem(manifest);
  if (problem !== undefined) throw new MeshError(`The folder cannot be read: ${problem}`, { place: { file: path } });
  return snapshotOf(files, `"${path}"`);
}

/** Reads a bare `config_dump.json`. Errors: a MeshError for any other file. */
export async function readConfigDump(world: World, path: string): Promise<Snapshot> {
  const text = await world.files.readText(path, maxPartBytes("config_dump.json"));
  if (!/^\s*\{/.test(text)) {
    throw new MeshError("The file is neither a snapshot nor Envoy's configuration", {
      place: { file: path },
      hint: '"kubectl mesh snapshot POD -o FILE.tar.gz" makes a snapshot',
    });
  }
  return snapshotOf(new Map([["config_dump.json", { text }]]), `"${path}"`);
}

/** A part of a folder; absent if the file is too large or not text. */
async function readPart(world: World, path: string, name: string): Promise<Part> {
  const most = isPartName(name) ? maxPartBytes(name) : MAX_MANIFEST_BYTES;
  const size = (await world.files.stat(path))?.size ?? 0;
  if (size > most) return absentPart("too-large", `${name} has ${size} bytes: at most ${most} are read`);
  try {
    return { text: await world.files.readText(path, most) };
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    return absentPart("malformed", `${name} cannot be read: ${messageOf(error)}`);
  }
}
