import { LABEL } from "../../../istio/annotations/labels.ts";
import { type Advice, byHand, harmless, type Risk } from "../../advice/advice.ts";
import { type Named, setLabel } from "../../advice/commands.ts";
import { changePod } from "../../injection/workload_advice.ts";
import { targetNamed } from "../../injection/target.ts";

/** Labels the pods of a workload, which keeps webhooks from being called for new ones. */
export function optedOut(object: Named, change: string, risk: Risk): Advice {
  const { kind, namespace } = object;
  const told = { change, risk, namespace } as const;
  if (kind === "pod") return { ...harmless(change, "workload", setLabel(object, LABEL.inject, "false")), ...told };
  const target = targetNamed(object);
  if (target === undefined) {
    return { ...byHand(`${change}: label its pod template ${LABEL.inject}=false`, "workload"), risk };
  }
  return { ...changePod(target, { of: "labels", key: LABEL.inject, value: "false" }), ...told };
}
