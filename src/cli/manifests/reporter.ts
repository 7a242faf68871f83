import { snippetText } from "../../base/errors.ts";
import type { World } from "../../platform/world.ts";
import type { ReportEntry, Summary } from "../../inject/mod.ts";
import { say } from "../failure.ts";

/** What became of the output. */
export interface Written {
  /** `undefined` for standard output. */
  readonly file: string | undefined;
  readonly isWritten: boolean;
  /** The number of files that were written, where each input has its own. */
  readonly files?: number;
}

/** Reports on standard error while manifests go to standard output. */
export interface Reporter {
  /** Prints lines about the configuration. */
  notes(lines: readonly string[]): void;
  /** Prints warnings about the configuration. */
  warnings(lines: readonly string[]): void;
  entry(entry: ReportEntry): void;
  /** Prints the counts, and where the output is. */
  end(summary: Summary, written: Written): void;
}

/** How an entry becomes a line. */
interface EntryPrinter {
  entryText(entry: ReportEntry, options: { readonly severalFiles: boolean }): string;
  entryJson(entry: ReportEntry): string;
}

/** How to report. */
export interface ReporterOptions {
  /**
   * `text` for people, `changed` the same without what is neither changed nor failed nor warned of, `json` for programs
   * (one object a line, nothing else), `none` for errors alone.
   */
  readonly format: "text" | "changed" | "json" | "none";
  readonly severalFiles: boolean;
  /** What the command does with a resource: "injected". */
  readonly done: string;
  /** Called before something is printed. */
  readonly before: () => void;
}

/** A reporter on standard error. A failure to write does not end the work. */
export function reporter(
  world: World,
  { format, severalFiles, done, before }: ReporterOptions,
  printer: EntryPrinter,
): Reporter {
  const print = (text: string) => {
    before();
    say(world, text);
  };
  const text = format === "text" || format === "changed";
  return {
    notes: (lines) => {
      if (text) { for (const line of lines) print(`note: ${line}\n`); }
    },
    warnings: (lines) => {
      if (text) { for (const line of lines) print(`warning: ${line}\n`); }
    },
    entry(entry) {
      if (format === "json") return print(`${printer.entryJson(entry)}\n`);
      if (!isShown(entry, format)) return;
      const place = entry.error?.place;
      const snippet = place !== undefined && world.stderr.isTerminal ? snippetText(place) : "";
      print(`${printer.entryText(entry, { severalFiles })}\n${snippet}`);
    },
    end(summary, written) {
      if (text) print(summaryText(summary, written, done));
      if (!written.isWritten && format !== "json") print(notWritten(summary, written, done));
    },
  };
}

function isShown({ result, warnings }: ReportEntry, format: ReporterOptions["format"]): boolean {
  if (result === "failed" || format === "text") return true;
  return format === "changed" && (isChange(result) || warnings.length > 0);
}

function isChange(result: ReportEntry["result"]): boolean {
  return result === "injected" || result === "uninjected";
}

function summaryText(summary: Summary, { file, isWritten, files }: Written, done: string): string {
  const counts = Object.entries(summary).filter(([, count]) => count > 0);
  if (counts.length === 0) return `warning: There is no manifest in the input: nothing is ${done}\n`;
  const told = counts.map(([result, count]) => `${count} ${result}`).join(", ");
  if (files !== undefined && isWritten) return `${told}; ${files} ${files === 1 ? "file" : "files"} written\n`;
  return `${told}${isWritten && file !== undefined ? `; written to "${file}"` : ""}\n`;
}

/** Nothing to say where all that there was has failed. */
function notWritten(summary: Summary, { file }: Written, done: string): string {
  const isAll = Object.entries(summary).every(([result, count]) => result === "failed" || count === 0);
  if (isAll && file === undefined) return "";
  const what = file === undefined ? "Nothing is written" : `"${file}" is not written`;
  return `error: ${what}: not everything could be ${done}${isAll ? "" : "; --keep-going leaves out what failed"}\n`;
}
