/** Converts a pod's field paths to the manifest's field paths. Also reports manifests without a pod template. */
import { MeshError } from "../../base/errors.ts";
import type { ValueMap } from "../../base/value.ts";
import { InjectionError } from "../injection_error.ts";
import type { Outcome } from "./document.ts";
import type { WorkloadKind } from "../pod/kinds.ts";

/** Skips a manifest without a pod template, such as a Rollout that refers to a Deployment. */
export function withoutTemplate(value: ValueMap, { kind, path }: WorkloadKind): Outcome {
  const field = path.join(".");
  const message = `this ${kind} has no pod template: "${field}" is missing`;
  return { result: "skipped", reason: "no-template", field, message, warnings: [], next: value };
}

/** Runs `action`. In its errors, replaces field paths that start at the pod with paths that start at the manifest. */
export function inPodOf<T>(row: WorkloadKind, action: () => T): T {
  try {
    return action();
  } catch (error) {
    if (!(error instanceof MeshError) || error.place?.field === undefined) throw error;
    const reason = error instanceof InjectionError ? error.reason : "invalid-manifest";
    const place = { field: fieldIn(error.place.field, row) };
    const message = error.message.replaceAll(POD_FIELD, `$1${row.path.map((key) => `${key}.`).join("")}`);
    throw new InjectionError(reason, message, { place, hint: error.hint, cause: error });
  }
}

/** Matches the start of a quoted pod field path in a message. */
const POD_FIELD = /(")(?=(?:spec|metadata)[.[])/g;

/** Converts a pod's field path to the manifest's. `metadata.namespace` stays: a pod has its controller's namespace. */
export function fieldIn(field: string, row: WorkloadKind): string {
  return field !== "metadata.namespace" && /^(spec|metadata)\b/.test(field) ? [...row.path, field].join(".") : field;
}
