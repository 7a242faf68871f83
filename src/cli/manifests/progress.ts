/** Progress of changing manifests, with the number of finished documents and the current file. */
import { type Progress, startProgress } from "../../platform/progress.ts";
import type { World } from "../../platform/world.ts";
import type { ManifestInput, ReportEntry } from "../../inject/mod.ts";

/** A progress line with the number of finished documents. */
export interface ManifestProgress extends Pick<Progress, "hide" | "end" | "soFar"> {
  /** Wraps the inputs, so that the progress line shows each file as soon as it is read. */
  watched(inputs: readonly ManifestInput[]): readonly ManifestInput[];
  /** Adds the document of a finished resource to the number, once per document. */
  done(entry: Pick<ReportEntry, "file" | "document">): void;
}

/** Creates the progress of a run. `isShown` shows a line on a terminal. */
export function manifestProgress(world: World, isShown: boolean): ManifestProgress {
  const progress = startProgress(world, { one: "document", verb: "read" }, isShown);
  let documents = 0;
  let last = "";
  return {
    watched: (inputs) =>
      inputs.map((input, at) => ({
        ...input,
        chunks: () => {
          progress.now(inputs.length === 1 ? input.file : `file ${at + 1} of ${inputs.length}, ${input.file}`);
          return input.chunks();
        },
      })),
    done({ file, document }) {
      const own = `${document} ${file}`;
      if (own !== last) progress.at(++documents);
      last = own;
    },
    hide: progress.hide,
    end: progress.end,
    soFar: progress.soFar,
  };
}
