/** `explain`: a question in, the exit code out. */
import { EXIT, UsageError } from "../core/errors.ts";
import type { World } from "../core/world/world.ts";
import type { Answer } from "./answer_schema.ts";
import { answerOf } from "./connection/answer.ts";
import { answersJson } from "./print/json.ts";
import type { Connection, Question } from "./question/question.ts";
import { explainPods } from "./run_pod.ts";
import { capturesOf } from "./sources/sources.ts";

/** Answers a question on standard output. Errors are `MeshError`s. */
export async function explain(world: World, question: Question): Promise<number> {
  const { connection } = question;
  if (connection === undefined) return await explainPods(world, question);
  return await explainConnection(world, question, connection);
}

async function explainConnection(world: World, question: Question, connection: Connection): Promise<number> {
  if (question.output === "svg") {
    throw new UsageError("The picture is of a pod, not of one connection", { hint: "leave out --to and --from" });
  }
  const answers: Answer[] = [];
  for await (const capture of capturesOf(world, question.source)) answers.push(await answerOf(capture, connection));
  world.stdout.write(answersJson(answers));
  return answers.every(({ verdict }) => verdict === "reaches" || verdict === "bypasses") ? EXIT.ok : EXIT.failed;
}
