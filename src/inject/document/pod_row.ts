/** Field paths of a pod in its manifest, and the outcome of a manifest without a pod. */
import { MeshError } from "../../base/errors.ts";
import type { ValueMap } from "../../base/value.ts";
import { InjectionError } from "../injection_error.ts";
import type { Outcome } from "./document.ts";
import type { WorkloadKind } from "../pod/kinds.ts";

/** The outcome of a manifest without a pod: a Rollout may refer to a Deployment instead. */
export function withoutTemplate(value: ValueMap, { kind, path }: WorkloadKind): Outcome {
  const field = path.join(".");
  const message = `this ${kind} has no pod template: "${field}" is missing`;
  return { result: "skipped", reason: "no-template", field, message, warnings: [], next: value };
}

/** Turns field paths of the pod in errors and their messages into paths of the manifest. */
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

/** The start of a quoted field path of the pod in a message. */
const POD_FIELD = /(")(?=(?:spec|metadata)[.[])/g;

/** A field path of the pod as a path of the manifest. A pod is in the namespace of its controller. */
export function fieldIn(field: string, row: WorkloadKind): string {
  return field !== "metadata.namespace" && /^(spec|metadata)\b/.test(field) ? [...row.path, field].join(".") : field;
}
