import { snippetLines } from "../../base/errors.ts";
import { counted } from "../../base/text/mod.ts";
import type { World } from "../../platform/world.ts";
import type { FileWarning, InputFinding, ReportEntry, Summary } from "../../inject/mod.ts";
import { say } from "../failure.ts";

export interface Written {
  /** `undefined` for standard output. */
  readonly file: string | undefined;
  readonly isWritten: boolean;
  /** Number of written files, if each input has its own output. */
  readonly files?: number;
}

/** Reports on standard error, because manifests go to standard output. */
export interface Reporter {
  notes(lines: readonly string[]): void;
  warnings(warnings: readonly FileWarning[]): void;
  entry(entry: ReportEntry): void;
  /** Prints the findings about several resources, after all entries. */
  together(findings: readonly InputFinding[]): void;
  /** Prints the counts and the destination of the output. */
  end(summary: Summary, written: Written): void;
  /** Says why findings cause the exit code, after all else. Prints nothing for JSON and SARIF, which must stay valid. */
  failure(message: string): void;
}

type Printer = Pick<
  typeof import("../../inject/mod.ts"),
  "entryLines" | "entryJson" | "fileWarningText" | "togetherText" | "togetherJson" | "Sarif"
>;

export interface ReporterOptions {
  /**
   * Format of the report. `changed` is `text` without skipped resources, `json` has one object per line,
   * `sarif` is one document at the end, and `none` prints only errors.
   */
  readonly format: "text" | "changed" | "json" | "sarif" | "none";
  readonly severalFiles: boolean;
  /** The verb for a changed resource: "injected". */
  readonly done: string;
  /** Called before each print. */
  readonly before: () => void;
}

/** Creates a reporter on standard error. Ignores write failures. */
export function reporter(
  world: World,
  { format, severalFiles, done, before }: ReporterOptions,
  printer: Printer,
): Reporter {
  const print = (...lines: readonly string[]) => {
    before();
    say(world, ...lines);
  };
  const text = format === "text" || format === "changed";
  const sarif = format === "sarif" ? new printer.Sarif() : undefined;
  return {
    notes: (lines) => {
      if (text) { for (const line of lines) print(`note: ${line}`); }
    },
    warnings(warnings) {
      sarif?.warnings(warnings);
      if (text) { for (const warning of warnings) print(`warning: ${printer.fileWarningText(warning)}`); }
    },
    entry(entry) {
      if (sarif !== undefined) return sarif.entry(entry);
      if (format === "json") return print(printer.entryJson(entry));
      if (!isShown(entry, format)) return;
      const snippet = world.stderr.isTerminal ? snippetLines(entry.error?.place) : [];
      print(...printer.entryLines(entry, { severalFiles }), ...snippet);
    },
    together(findings) {
      for (const finding of findings) {
        if (sarif !== undefined) sarif.together(finding);
        else if (format === "json") print(printer.togetherJson(finding));
        else if (text && finding.severity !== "note") print(printer.togetherText(finding, { severalFiles }));
      }
    },
    end(summary, written) {
      if (sarif !== undefined) return print(...sarif.text().trimEnd().split("\n"));
      if (text) print(summaryText(summary, written, done));
      if (!written.isWritten && format !== "json") print(...notWritten(summary, written, done));
    },
    failure(message) {
      if (text || format === "none") print(`error: ${message}`);
    },
  };
}

/** Whether to show a resource. The format `changed` shows a skipped resource only if skipping may be a mistake. */
function isShown({ result, warnings, reason }: ReportEntry, format: ReporterOptions["format"]): boolean {
  if (result === "failed" || format === "text") return true;
  return format === "changed" &&
    (result === "injected" || result === "uninjected" || reason === "kind-misspelled" || warnings.length > 0);
}

function summaryText(summary: Summary, { file, isWritten, files }: Written, done: string): string {
  const counts = Object.entries(summary).filter(([, count]) => count > 0);
  if (counts.length === 0) return `warning: The input contains no manifest: nothing is ${done}`;
  const text = counts.map(([result, count]) => `${count} ${result}`).join(", ");
  if (files !== undefined && isWritten) return `${text}; ${counted(files, "file")} written`;
  return `${text}${isWritten && file !== undefined ? `; written to "${file}"` : ""}`;
}

/** Returns the line about unwritten output; none if every resource failed, because their errors are enough. */
function notWritten(summary: Summary, { file }: Written, done: string): string[] {
  const isAll = Object.entries(summary).every(([result, count]) => result === "failed" || count === 0);
  if (isAll && file === undefined) return [];
  const what = file === undefined ? "Nothing is written" : `"${file}" is not written`;
  return [`error: ${what}: some resources could not be ${done}${isAll ? "" : "; --keep-going skips failed resources"}`];
}
