/** `snapshot`: a pod in, an archive that `explain -f` reads out. */
import { EXIT, MeshError } from "../base/errors.ts";
import type { World } from "../platform/world.ts";
import { writeArchive } from "./snapshot/archive.ts";
import { PART_NAMES, type Snapshot } from "./snapshot/snapshot.ts";
import type { SourceChoice } from "./question/question.ts";
import { snapshotsOf } from "./sources/sources.ts";

interface SaveOptions {
  readonly source: SourceChoice;
  readonly path: string;
  readonly program: string;
}

/**
 * Writes the archive and says on standard error what is in it and what is not. Errors: a MeshError if the pod cannot be
 * read, or the file cannot be written.
 */
export async function saveSnapshot(world: World, { source, path, program }: SaveOptions): Promise<number> {
  world.files.tidyTemporary(path);
  for await (const snapshot of snapshotsOf(world, source, { keeps: ["write"] })) {
    const absent = PART_NAMES.filter((name) => snapshot.parts[name].text === undefined);
    if (PART_NAMES.every((name) => name === "pod.json" || absent.includes(name))) throw nothing(snapshot);
    const { bytes, redacted } = await writeArchive(world, snapshot, { path, program });
    const count = PART_NAMES.length - absent.length;
    const secrets = redacted === 0 ? "no value looked like a secret" : `${redacted} values were redacted`;
    world.stderr.write(`"${path}" has ${count} files of ${snapshot.origin}, ${kib(bytes)}; ${secrets}\n`);
    for (const name of absent) world.stderr.write(`  without ${name}: ${snapshot.parts[name].message}\n`);
  }
  return EXIT.ok;
}

function nothing({ origin, parts }: Snapshot): MeshError {
  return new MeshError(`Nothing of the proxy of ${origin} can be read: ${parts["server_info.json"].message}`);
}

function kib(bytes: number): string {
  return `${Math.max(1, Math.round(bytes / 1024))} KiB`;
}
