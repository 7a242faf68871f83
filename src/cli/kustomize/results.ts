/** Results of a kustomize function (KRM functions specification, "results"). */
import { errorLine, type MeshError } from "../../base/errors.ts";
import { resourceName } from "../../kube/mod.ts";
import { newMap, type Value, type ValueMap } from "../../base/value.ts";
import type { InputFinding, ReportEntry } from "../../inject/mod.ts";

/** A message about a resource. Empty texts are omitted from the output. */
export interface Result {
  readonly severity: "error" | "warning";
  readonly message: string;
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly field?: string | undefined;
  readonly file?: string | undefined;
  /** Index of the resource in its file, from 0. */
  readonly index?: number | undefined;
}

/** File and index of a resource. */
export type Origin = Pick<Result, "file" | "index">;

/** Whether a finding of this severity makes the function fail. */
type Fails = (severity: string) => boolean;

/** Returns the results for a resource: its warnings and its failure. */
export function resultsOf(
  { error, field, warnings, findings = [], ...entry }: ReportEntry,
  origin: Origin,
  fails: Fails,
): readonly Result[] {
  const { apiVersion, kind, name, namespace } = entry;
  const about = { apiVersion, kind, name, namespace, ...origin };
  const results = warnings.map((message): Result => {
    const finding = findings.find((each) => message.startsWith(each.message) && message.endsWith(`[${each.rule}]`));
    const severity = fails(finding?.severity ?? "warning") ? "error" : "warning";
    return { severity, message, field: finding?.field, ...about };
  });
  if (entry.result !== "failed") return results;
  const message = error === undefined ? entry.message : messageOf(error);
  return [...results, { severity: "error", message, field, ...about }];
}

/** Returns the result for a finding about several resources. Reports it at the resource that contains the field. */
export function togetherResult({ described, field, severity }: InputFinding, message: string, fails: Fails): Result {
  const { apiVersion, kind, name, namespace, file } = described;
  return { severity: fails(severity) ? "error" : "warning", message, field, apiVersion, kind, name, namespace, file };
}

/** Returns the result for an error without a resource. */
export function failure(error: MeshError): Result {
  return { severity: "error", message: messageOf(error), file: error.place?.file, field: error.place?.field };
}

/** Returns the message without the file and line, which have their own fields. */
function messageOf({ message, hint }: MeshError): string {
  return errorLine({ message, hint, place: undefined });
}

/** Encodes a result for the ResourceList. */
export function resultObject({ severity, message, field, file, index, ...resource }: Result): ValueMap {
  const place = file === undefined ? {} : { path: file, index };
  return filled({
    message,
    severity,
    resourceRef: filled(resource),
    field: filled({ path: field }),
    file: filled(place),
  });
}

function filled(values: Readonly<Record<string, Value | undefined>>): ValueMap {
  const map = newMap();
  for (const [key, value = null] of Object.entries(values)) {
    const isEmpty = value === "" || value === null || (typeof value === "object" && Object.keys(value).length === 0);
    if (!isEmpty) map[key] = value;
  }
  return map;
}

/** Formats a result as a line for standard error, because kustomize does not show results to users. */
export function resultLine({ severity, message, file = "", apiVersion = "", kind = "", name = "" }: Result): string {
  const about = [file, resourceName(apiVersion, kind, name).replace(/\/$/, "")].filter((part) => part !== "");
  return `${[severity, ...about].join(": ")}: ${message}`;
}
