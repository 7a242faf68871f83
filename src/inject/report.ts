/** What is said about each resource: entries as data, and as lines of text or JSON. */
import { type MeshError, placeText } from "../core/errors.ts";
import { goJson, OrderedFields } from "../core/gojson.ts";
import { resourceName } from "../core/kube/mod.ts";

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

/** The lines of an entry for people: `deployment.apps/web skipped: pod uses the host network`, then its warnings. */
export function entryText(entry: ReportEntry): string {
  const name = displayName(entry);
  const lines = [entry.error === undefined ? `${name} ${outcome(entry)}` : `error: ${errorText(entry.error)}`];
  return [...lines, ...entry.warnings.map((warning) => `warning: ${name}: ${warning}`)].join("\n");
}

function displayName({ apiVersion, kind, name }: ReportEntry): string {
  return kind === "" ? "document" : resourceName(apiVersion, kind, name);
}

function outcome({ result, message }: ReportEntry): string {
  return result === "injected" ? result : `${result}: ${message}`;
}

/** An error on one line, with its place before and its hint after it. */
function errorText(error: MeshError): string {
  const place = placeText(error.place ?? {});
  const message = place === "" ? error.message : `${place}: ${error.message}`;
  return error.hint === undefined ? message : `${message}; ${error.hint}`;
}

/** The entry as one line of JSON. */
export function entryJson(entry: ReportEntry): string {
  const { file, document, apiVersion, kind, namespace, name, result, reason, field, message, warnings } = entry;
  const fields = { file, document, apiVersion, kind, namespace, name, result, reason, field, message, warnings };
  const line = entry.error?.place?.line;
  const all = line === undefined ? fields : { ...fields, line };
  return goJson(new OrderedFields(Object.entries(all)), { escapeHtml: false });
}
