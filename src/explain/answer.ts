/** The answer to a question about one connection of one pod. */
import { re2Library } from "../golang/re2.ts";
import type { Answer } from "./answer_schema.ts";
import { answerWith } from "./connection/answer.ts";
import { factsOf } from "./connection/facts.ts";
import { type Ends, withOtherEnds } from "./ends/both_ends.ts";
import type { ProbedSnapshot } from "./evidence.ts";
import { withProbe } from "./probe/proofs.ts";
import type { Connection } from "./question/question.ts";

/**
 * The path of a connection through a pod, with the evidence of a probe, and with `ends` through the pods behind its
 * endpoints. Loads the library of regular expressions.
 */
export async function answerOf(snapshot: ProbedSnapshot, connection: Connection, ends?: Ends): Promise<Answer> {
  await re2Library.loaded();
  const facts = factsOf(snapshot);
  const answer = withProbe(answerWith(facts, connection), facts);
  return ends === undefined ? answer : await withOtherEnds(answer, facts, connection, ends);
}
