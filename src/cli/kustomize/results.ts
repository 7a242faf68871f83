/** Results of a function: what is told about resources (KRM functions specification, "results"). */
import { errorLine, type MeshError } from "../../base/errors.ts";
import { resourceName } from "../../kube/mod.ts";
import { newMap, type Value, type ValueMap } from "../../base/value.ts";
import type { ReportEntry } from "../../inject/mod.ts";

/** What is told. Empty texts are left out. */
export interface Result {
  readonly severity: "error" | "warning";
  readonly message: string;
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly field?: string | undefined;
  readonly file?: string | undefined;
  /** The number of the resource in its file, from 0. */
  readonly index?: number | undefined;
}

/** Where a resource is from. */
export type Origin = Pick<Result, "file" | "index">;

/** The results about a resource: its warnings, and its failure. */
export function resultsOf({ error, field, warnings, ...entry }: ReportEntry, origin: Origin): readonly Result[] {
  const { apiVersion, kind, name, namespace } = entry;
  const about = { apiVersion, kind, name, namespace, ...origin };
  const told = warnings.map((message): Result => ({ severity: "warning", message, ...about }));
  if (entry.result !== "failed") return told;
  return [...told, {
    severity: "error",
    message: error === undefined ? entry.message : messageOf(error),
    field,
    ...about,
  }];
}

/** The result of an error that is about no resource. */
export function failure(error: MeshError): Result {
  return { severity: "error", message: messageOf(error), file: error.place?.file, field: error.place?.field };
}

/** The place stands in other fields. */
function messageOf({ message, hint }: MeshError): string {
  return errorLine({ message, hint, place: undefined });
}

/** A result as the ResourceList has it. */
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

/** A result as a line: kustomize shows standard error to people, and keeps results to itself. */
export function resultLine({ severity, message, file = "", apiVersion = "", kind = "", name = "" }: Result): string {
  const about = [file, resourceName(apiVersion, kind, name).replace(/\/$/, "")].filter((part) => part !== "");
  return `${[severity, ...about].join(": ")}: ${message}\n`;
}
