/** Detects pods that run to completion. */
import { textAt } from "../../base/value.ts";
import { type Pod, specOf } from "./pod.ts";

/** Workload kinds whose pods run to completion. */
const ENDING = ["Job", "CronJob", "BroadcastJob", "AdvancedCronJob"];

/** Whether a pod runs to completion. `kind` is the kind of the pod's owner. */
export function endsByItself(kind: string, pod: Pod): boolean {
  return ENDING.includes(kind) ||
    (kind === "Pod" && ["Never", "OnFailure"].includes(textAt(specOf(pod), "restartPolicy")));
}
