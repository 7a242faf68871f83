/** How far a change of manifests is: a line on a terminal, once it takes long. */
import { counted } from "../../base/text/mod.ts";
import { progressLine } from "../../platform/progress.ts";
import type { World } from "../../platform/world.ts";
import type { ManifestInput, ReportEntry } from "../../inject/mod.ts";

/** Milliseconds before the line is shown, and between two states of it. */
const PATIENCE = 1_000;
const PAUSE = 100;

/** The progress of a run. */
export interface ManifestProgress {
  /** The same inputs, of which it is known when they begin. */
  watched(inputs: readonly ManifestInput[]): readonly ManifestInput[];
  /** A resource is done. */
  done(entry: Pick<ReportEntry, "file" | "document">): void;
  /** Removes the line before something else is printed. */
  hide(): void;
  /** Removes it for good. */
  end(): void;
}

/** Shows nothing unless `isOn`. */
export function manifestProgress(world: World, isOn: boolean): ManifestProgress {
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
    if (now - start < PATIENCE || now - shown < PAUSE) return;
    shown = now;
    line.say(`${counted(documents, "document")} done, ${file}`);
  };
  // An input may be slow to begin. An AbortController, which would end the sleep, takes 2 of the 65 ms of a small file.
  if (isShown) void world.clock.sleep(PATIENCE).then(show);
  return {
    watched: (inputs) =>
      inputs.map((input) => ({
        ...input,
        chunks: () => {
          file = input.file;
          show();
          return input.chunks();
        },
      })),
    done(entry) {
      const document = `${entry.document} ${entry.file}`;
      if (document !== last) documents++;
      last = document;
      show();
    },
    hide: () => line.clear(),
    end() {
      isOver = true;
      line.clear();
    },
  };
}
