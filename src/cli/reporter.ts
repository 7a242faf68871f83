import { snippetText } from "../core/errors.ts";
import type { World } from "../core/world/world.ts";
import type { ReportEntry, Summary } from "../inject/mod.ts";
import { say } from "./failure.ts";
import type { ProductOutput } from "./output.ts";

/** Reports on standard error while manifests go to standard output. */
export interface Reporter {
  /** Prints lines about the configuration. */
  notes(lines: readonly string[]): void;
  entry(entry: ReportEntry): void;
  /** Prints that there was nothing to do, or that the file is not written. */
  end(summary: Summary, output: ProductOutput): void;
}

/** How an entry becomes a line. */
interface EntryPrinter {
  entryText(entry: ReportEntry, options: { readonly severalFiles: boolean }): string;
  entryJson(entry: ReportEntry): string;
}

/** How to report. */
export interface ReporterOptions {
  /** `text` for people, `json` for programs (one object a line, nothing else), `none` for errors alone. */
  readonly format: "text" | "json" | "none";
  readonly severalFiles: boolean;
}

/** A reporter on standard error. A failure to write does not end the work. */
export function reporter(world: World, { format, severalFiles }: ReporterOptions, printer: EntryPrinter): Reporter {
  const text = format === "text";
  return {
    notes: (lines) => {
      if (text) { for (const line of lines) say(world, `note: ${line}\n`); }
    },
    entry(entry) {
      if (format === "json") return say(world, `${printer.entryJson(entry)}\n`);
      if (!text && entry.result !== "failed") return;
      const snippet = world.stderr.isTerminal ? snippetText(entry.error?.place) : "";
      say(world, `${printer.entryText(entry, { severalFiles })}\n${snippet}`);
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
