/** Pods that end by themselves when their work is done. */
import { textAt } from "../../base/value.ts";
import { type Pod, specOf } from "./pod.ts";

/** Kinds whose pods end. */
const ENDING = ["Job", "CronJob", "BroadcastJob", "AdvancedCronJob"];

/** Whether a pod ends by itself; `kind` is the kind of the workload that owns it. */
export function endsByItself(kind: string, pod: Pod): boolean {
  return ENDING.includes(kind) ||
    (kind === "Pod" && ["Never", "OnFailure"].includes(textAt(specOf(pod), "restartPolicy")));
}
