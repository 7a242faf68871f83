import { snippetText } from "../core/errors.ts";
import type { World } from "../core/world/world.ts";
import type { ReportEntry, Summary } from "../inject/mod.ts";
import { say } from "./failure.ts";
import type { ProductOutput } from "./output.ts";

/** What is said on standard error while manifests go to standard output. */
export interface Reporter {
  /** Lines about the configuration. */
  notes(lines: readonly string[]): void;
  entry(entry: ReportEntry): void;
  /** The last words: that there was nothing to do, and what happened to the file that is written. */
  end(summary: Summary, output: ProductOutput): void;
}

/** How the room puts an entry into words. */
interface Words {
  entryText(entry: ReportEntry, options: { readonly severalFiles: boolean }): string;
  entryJson(entry: ReportEntry): string;
}

/** How to report. */
export interface ReporterOptions {
  /** `text` for people, `json` for programs (one object a line, nothing else), `none` for errors alone. */
  readonly format: "text" | "json" | "none";
  readonly severalFiles: boolean;
}

/** A reporter on standard error. That it cannot be written to does not end the work. */
export function reporter(world: World, { format, severalFiles }: ReporterOptions, words: Words): Reporter {
  const text = format === "text";
  return {
    notes: (lines) => {
      if (text) { for (const line of lines) say(world, `note: ${line}\n`); }
    },
    entry(entry) {
      if (format === "json") return say(world, `${words.entryJson(entry)}\n`);
      if (!text && entry.result !== "failed") return;
      const snippet = world.stderr.isTerminal ? snippetText(entry.error?.place) : "";
      say(world, `${words.entryText(entry, { severalFiles })}\n${snippet}`);
    },
    end(summary, { file }) {
      if (text && isEmpty(summary)) say(world, "warning: There is no manifest in the input: nothing is injected\n");
      if (summary.failed > 0 && file !== undefined && format !== "json") {
        say(world, `error: "${file}" is not written: not everything could be injected\n`);
      }
    },
  };
}

function isEmpty(summary: Summary): boolean {
  return Object.values(summary).every((count) => count === 0);
}
