/** From the choice of a source to captures. */
import { UsageError } from "../../core/errors.ts";
import type { World } from "../../core/world/world.ts";
import type { Capture } from "../capture/capture.ts";
import { readConfigDump, readFolder } from "../capture/read_saved.ts";
import type { SourceChoice } from "../question/question.ts";

/**
 * The captures, one for each pod. A source that cannot read a part says why in the part. Errors: a MeshError where nothing
 * at all can be told.
 */
export async function* capturesOf(world: World, source: SourceChoice): AsyncIterable<Capture> {
  switch (source.kind) {
    case "file":
      yield await readSaved(world, source.path);
      return;
    case "local":
    case "live":
      throw new UsageError("A running pod cannot be read yet", { hint: "name a capture with -f" });
  }
}

/** No network and no other process: a capture is untrusted. */
async function readSaved(world: World, path: string): Promise<Capture> {
  world.permissions.keepOnly(["read"]);
  const isFolder = (await world.files.stat(path))?.kind === "directory";
  return isFolder ? await readFolder(world, path) : await readConfigDump(world, path);
}
