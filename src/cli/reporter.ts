import { ClosedPipeError } from "../core/errors.ts";
import type { World } from "../core/world/world.ts";
import type { ReportEntry } from "../inject/mod.ts";
import type { ProductOutput } from "./output.ts";

/** What is said on standard error while manifests go to standard output. */
export interface Reporter {
  /** Lines about the configuration. */
  notes(lines: readonly string[]): void;
  entry(entry: ReportEntry): void;
  /** The last words: about the file that was or was not written. */
  end(failed: boolean, output: ProductOutput): void;
}

/** How the room puts an entry into words. */
interface Words {
  entryText(entry: ReportEntry): string;
  entryJson(entry: ReportEntry): string;
}

/** `text` for people, `json` for programs (one object a line, nothing else), `none` for errors alone. */
export function reporter(world: World, format: "text" | "json" | "none", words: Words): Reporter {
  const say = (line: string) => tell(world, line);
  const text = format === "text";
  return {
    notes: (lines) => {
      if (text) { for (const line of lines) say(`note: ${line}`); }
    },
    entry(entry) {
      if (format === "json") say(words.entryJson(entry));
      else if (text || entry.result === "failed") say(words.entryText(entry));
    },
    end(failed, { file }) {
      if (failed && file !== undefined && format !== "json") {
        say(`error: "${file}" is left as it was: not everything could be injected`);
      }
    },
  };
}

/** A reader of stderr that went away does not end the work. */
function tell(world: World, line: string): void {
  try {
    world.stderr.write(`${line}\n`);
  } catch (error) {
    if (!(error instanceof ClosedPipeError)) throw error;
  }
}
