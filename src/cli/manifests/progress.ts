/** Progress of changing manifests: a line at a terminal, once it takes long. */
import { counted } from "../../base/text/mod.ts";
import { progressLine } from "../../platform/progress.ts";
import type { World } from "../../platform/world.ts";
import type { ManifestInput, ReportEntry } from "../../inject/mod.ts";

/** Milliseconds before the line appears, and between its updates. */
const DELAY = 1_000;
const PAUSE = 100;

/** Shows the progress of a run; nothing unless `isOn`. */
export function manifestProgress(world: World, isOn: boolean) {
  const line = progressLine(world);
  const isShown = isOn && line.isOn;
  const start = isShown ? world.clock.monotonic() : 0;
  let isOver = false;
  let shown = -Infinity;
  let file = "";
  let documents = 0;
  let last = "";
  const show = () => {
    if (!isShown || file === "" || isOver) return;
    const now = world.clock.monotonic();
    if (now - start < DELAY || now - shown < PAUSE) return;
    shown = now;
    line.say(`${counted(documents, "document")} done, ${file}`);
  };
  // An input may be slow to start. An AbortController that ends the sleep takes 2 of the 65 ms of a small file.
  if (isShown) void world.clock.sleep(DELAY).then(show);
  return {
    /** The same inputs; the progress sees when each begins. */
    watched: (inputs: readonly ManifestInput[]): readonly ManifestInput[] =>
      inputs.map((input) => ({
        ...input,
        chunks: () => {
          file = input.file;
          show();
          return input.chunks();
        },
      })),
    /** Counts the document of a finished resource. */
    done(entry: Pick<ReportEntry, "file" | "document">) {
      const document = `${entry.document} ${entry.file}`;
      if (document !== last) documents++;
      last = document;
      show();
    },
    /** Removes the line before something else is printed. */
    hide: () => line.clear(),
    /** Removes the line for good. */
    end() {
      isOver = true;
      line.clear();
    },
  };
}
