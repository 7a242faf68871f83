/** One connection of one pod: facts in, stations out. */
import type { Answer } from "../answer_schema.ts";
import type { PodName } from "../capture/capture.ts";
import type { Connection } from "../question/question.ts";
import type { Facts } from "./facts.ts";
import { inbound } from "./inbound.ts";
import { outbound } from "./outbound.ts";
import { Way } from "./way.ts";

/** The way of a connection through a pod whose capture was read. Pure. */
export function answerWith(facts: Facts, asked: Connection): Answer {
  // A probe is a request with headers of its own.
  const { connection = asked } = facts.capture.probe ?? {};
  const way = new Way(podText(facts.capture.pod), connection.direction);
  if (connection.direction === "outbound") outbound(way, facts, connection);
  else inbound(way, facts, connection);
  return way.answer();
}

/** `NAMESPACE/NAME`; empty if the pod is unknown. */
export function podText({ namespace, name }: PodName): string {
  return name === "" ? "" : namespace === "" ? name : `${namespace}/${name}`;
}
