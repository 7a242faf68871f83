/** What is said about each resource: entries as data, and as lines of text or JSON. */
import { errorLine, type MeshError, saysField } from "../../core/errors.ts";
import { goJson, OrderedFields } from "../../core/gojson.ts";
import { resourceName } from "../../core/kube/mod.ts";

/** What became of a resource. */
export type Result = "injected" | "skipped" | "unchanged" | "failed";

/** One resource of the input. */
export interface ReportEntry {
  readonly file: string;
  /** From 1. */
  readonly document: number;
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly result: Result;
  /** A stable id: those of `decision.ts`, `injection_error.ts`, `not-a-workload`, `already-injected`. */
  readonly reason: string;
  /** The field that decided, or that is wrong. */
  readonly field: string;
  readonly message: string;
  readonly warnings: readonly string[];
  /** What failed, where `result` says so. */
  readonly error?: MeshError;
}

/** How an entry is told. */
export interface EntryTextOptions {
  /** There are several files: each line says which it is about. */
  readonly severalFiles: boolean;
}

/**
 * The lines of an entry for people: `deployment.apps/web skipped: pod uses the host network`, then its warnings. Of
 * several files each is named: ` (a.yaml)` after a result, as kubectl puts what is to be added, `a.yaml: ` before a warning.
 */
export function entryText(entry: ReportEntry, { severalFiles }: EntryTextOptions = { severalFiles: false }): string {
  const name = displayName(entry);
  const file = severalFiles ? entry.file : "";
  const result = `${name} ${outcome(entry)}${file === "" ? "" : ` (${file})`}`;
  const about = file === "" ? name : `${file}: ${name}`;
  return [
    entry.error === undefined ? result : `error: ${errorLine(named(entry.error, entry))}`,
    ...entry.warnings.map((warning) => `warning: ${about}: ${warning}`),
  ].join("\n");
}

/** Without a name a resource can only be found by its number. */
function displayName({ apiVersion, kind, name, document }: ReportEntry): string {
  if (kind === "") return `document ${document}`;
  const full = resourceName(apiVersion, kind, name);
  return name === "" ? `${full.replace(/\/$/, "")} (document ${document})` : full;
}

function outcome({ result, message }: ReportEntry): string {
  return result === "injected" ? result : `${result}: ${message}`;
}

/** The error with the resource that it is about, after its place in the file. */
function named(error: MeshError, entry: ReportEntry): Pick<MeshError, "message" | "place" | "hint"> {
  if (entry.name === "") return error;
  const { place, hint } = error;
  const field = saysField(error.message, place?.field) ? "" : place?.field ?? "";
  const message = `${displayName(entry)}: ${field === "" ? "" : `${field}: `}${error.message}`;
  return { message, place: { ...place, field: "" }, hint };
}

/** The entry as one line of JSON. */
export function entryJson(entry: ReportEntry): string {
  const { file, document, apiVersion, kind, namespace, name, result, reason, field, message, warnings } = entry;
  const fields = { file, document, apiVersion, kind, namespace, name, result, reason, field, message, warnings };
  const more = Object.entries(whereAndHow(entry.error));
  return goJson(new OrderedFields([...Object.entries(fields), ...more]), { escapeHtml: false });
}

function whereAndHow(error: MeshError | undefined): Record<string, string | number> {
  const known: Record<string, string | number> = {};
  if (error?.place?.line !== undefined) known["line"] = error.place.line;
  if (error?.place?.column !== undefined) known["column"] = error.place.column;
  if (error?.hint !== undefined) known["hint"] = error.hint;
  return known;
}
