import { PatchError, strategicMerge } from "../../core/kube/mod.ts";
import { InjectionError } from "../injection_error.ts";
import type { Pod } from "./pod.ts";

/** A part of a pod laid over a pod as a strategic merge patch. Errors: an InjectionError for parts that do not fit. */
export function mergePod(pod: Pod, patch: Pod): Pod {
  try {
    return strategicMerge(pod, patch, "Pod");
  } catch (error) {
    if (!(error instanceof PatchError)) throw error;
    throw new InjectionError("invalid-result", `The templates cannot be merged into the pod: ${error.message}`, {
      cause: error,
    });
  }
}
