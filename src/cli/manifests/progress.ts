/** Progress of changing manifests, with the number of finished documents and the current file. */
import { startProgress } from "../../platform/progress.ts";
import type { World } from "../../platform/world.ts";
import type { ManifestInput, ReportEntry } from "../../inject/mod.ts";

/** Creates the progress of a run. `isShown` shows a line on a terminal. */
export function manifestProgress(world: World, isShown: boolean) {
  const progress = startProgress(world, { one: "document", verb: "read" }, isShown);
  let documents = 0;
  let last = "";
  return {
    ...progress,
    /** Wraps the inputs, so that the progress line shows each file as soon as it is read. */
    watched: (inputs: readonly ManifestInput[]): readonly ManifestInput[] =>
      inputs.map((input, at) => ({
        ...input,
        chunks: () => {
          progress.now(inputs.length === 1 ? input.file : `file ${at + 1} of ${inputs.length}, ${input.file}`);
          return input.chunks();
        },
      })),
    /** Adds the document of a finished resource to the number, once per document. */
    done({ file, document }: Pick<ReportEntry, "file" | "document">) {
      const own = `${document} ${file}`;
      if (own !== last) progress.at(++documents);
      last = own;
    },
  };
}
