/** Answers a question about one connection of one pod. */
import { re2Library } from "../golang/re2.ts";
import type { Answer } from "./answer_schema.ts";
import { answerWith } from "./connection/answer.ts";
import { factsOf } from "./connection/facts.ts";
import { type Ends, withOtherEnds } from "./ends/both_ends.ts";
import type { ProbedSnapshot } from "./evidence.ts";
import { withApi, withoutApi } from "./resources/decided.ts";
import type { MeshResources } from "./resources/mesh_resources.ts";
import { withProbe } from "./probe/proofs.ts";
import type { Connection } from "./question/question.ts";

/**
 * Returns the path of a connection through a pod, with the result of a probe. If `ends` is given, the path continues
 * through the pods behind the endpoints. If `resources` is given, the answer names the resource that decided the
 * verdict. Loads RE2.
 */
export async function answerOf(
  snapshot: ProbedSnapshot,
  connection: Connection,
  ends?: Ends,
  resources?: MeshResources,
): Promise<Answer> {
  await re2Library.loaded();
  const facts = factsOf(snapshot);
  const own = answerWith(facts, connection);
  const probed = withProbe(own, facts);
  // The cause explains only the reason found without the probe.
  const answer = { ...probed, cause: probed.reason === own.reason ? own.cause : undefined };
  const whole = ends === undefined ? answer : await withOtherEnds(answer, facts, connection, ends);
  return resources === undefined || whole.probe !== undefined ? withoutApi(whole) : await withApi(whole, resources);
}
