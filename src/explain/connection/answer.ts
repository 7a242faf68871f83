/** Answers the question about one connection of one pod, from a typed snapshot. */
import type { OpenAnswer } from "../resources/decided.ts";
import { podText } from "../snapshot/snapshot.ts";
import type { Connection } from "../question/question.ts";
import type { Facts } from "./facts.ts";
import { inbound } from "./inbound.ts";
import { outbound } from "./outbound.ts";
import { ConnectionPath } from "./connection_path.ts";

/** Returns the path of a connection through a pod. Pure. */
export function answerWith(facts: Facts, asked: Connection): OpenAnswer {
  // A probe adds its own headers to the request.
  const { connection = asked } = facts.snapshot.probe ?? {};
  const path = new ConnectionPath(podText(facts.snapshot.pod), connection.direction);
  if (connection.direction === "outbound") outbound(path, facts, connection);
  else inbound(path, facts, connection);
  return path.answer();
}
