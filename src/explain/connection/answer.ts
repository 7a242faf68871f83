/** One connection of one pod: capture in, stations out. */
import type { Answer } from "../answer_schema.ts";
import type { Capture, PodName } from "../capture/capture.ts";
import type { Connection } from "../question/question.ts";

/** The way of a connection through a pod. Pure: reads nothing but the capture. */
export function answerOf(capture: Capture, connection: Connection): Answer {
  return {
    pod: podText(capture.pod),
    direction: connection.direction,
    verdict: "unknown",
    reason: capture.parts["config_dump.json"].message ?? "",
    fix: "",
    stations: [],
    clusters: [],
    endpoints: [],
  };
}

/** `NAMESPACE/NAME`; empty if the pod is unknown. */
export function podText({ namespace, name }: PodName): string {
  return name === "" ? "" : namespace === "" ? name : `${namespace}/${name}`;
}
