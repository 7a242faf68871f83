/** Runs `explain`: answers a question and returns the exit code. */
import { EXIT } from "../base/errors.ts";
import { visible, wrapped } from "../base/text/mod.ts";
import { type Progress, withProgress } from "../platform/progress.ts";
import { tableWidthOf } from "../platform/terminal.ts";
import type { World } from "../platform/world.ts";
import type { Answer } from "./answer_schema.ts";
import { answerOf } from "./answer.ts";
import { explainedFlags } from "./ends/response_flags.ts";
import { answerPicture, answerText, flagText } from "./picture/answer_picture.ts";
import { arrowOf, type Asked } from "./picture/asked.ts";
import { lookOf } from "./picture/look.ts";
import { svgText } from "./picture/svg.ts";
import type { Look } from "./picture/terminal.ts";
import type { Connection, Question } from "./question/question.ts";
import { explainMatrix } from "./run_matrix.ts";
import { explainPods } from "./run_pod.ts";
import { traceOf, withTrace } from "./kernel/trace_proof.ts";
import { answersJson, onlyOne } from "./several.ts";
import { PODS_READ, snapshotsOf } from "./sources/sources.ts";

/** Prints the answer to a question on standard output. Returns the exit code. Throws a MeshError. */
export async function explain(world: World, question: Question): Promise<number> {
  const { connection } = question;
  if (question.isMatrix === true) return await explainMatrix(world, question);
  if (connection === undefined) return await explainPods(world, question);
  const look = lookOf(world);
  const answers = await withProgress(
    world,
    PODS_READ,
    (progress) => answersOf(world, { ...question, connection }, progress),
  );
  world.stdout.write(textOf(question.output, { answers, asked: connection, look, width: tableWidthOf(world) }));
  return answers.every(isWell) ? EXIT.ok : EXIT.failed;
}

async function answersOf(
  world: World,
  { source, connection, isOneEnd, isTraced, flags = [] }: Question & { readonly connection: Connection },
  progress: Progress,
): Promise<readonly Answer[]> {
  const answers: Answer[] = [];
  for await (const { snapshot, ends, resources } of snapshotsOf(world, source, { progress })) {
    const expected = await answerOf(snapshot, connection, isOneEnd ? undefined : ends, resources);
    const answer = isTraced === true ? withTrace(expected, await traceOf(world, connection)) : expected;
    answers.push(flags.length === 0 ? answer : { ...answer, flags: explainedFlags(flags, answer) });
  }
  return answers;
}

/** Whether the exit code is 0: the connection works, and a requested probe was sent. */
function isWell({ verdict, probe }: Answer): boolean {
  return (verdict === "reaches" || verdict === "bypasses") && probe?.isSent !== false;
}

interface Printed {
  readonly answers: readonly Answer[];
  readonly asked: Asked;
  readonly look: Look;
  readonly width: number;
}

function textOf(output: Question["output"], { answers, asked, look, width }: Printed): string {
  if (output === "json") return answersJson(answers);
  if (output === "short") return answers.map((answer) => shortAnswer(answer, asked, width)).join("");
  if (output === "svg") return svgText(answerPicture(onlyOne(answers), asked));
  return answers.map((answer) => answerText(answer, { asked, look, isWide: output === "wide" })).join("\n");
}

/**
 * Returns one line, such as `shop/cart -> catalog:8080: mTLS, 1 endpoint, reaches`, and one line for each response flag
 * below it, wrapped at `width` columns. Other verdicts include the reason.
 */
function shortAnswer(
  { pod, verdict, reason, stations, endpoints, flags = [] }: Answer,
  asked: Asked,
  width: number,
): string {
  const mode = stations.find(({ kind, side }) => kind === "tls" && side === "client")?.detail["mode"];
  const count = endpoints.length === 1 ? "1 endpoint" : `${endpoints.length} endpoints`;
  const parts = [mode === undefined ? "" : MODES[String(mode)] ?? "", endpoints.length === 0 ? "" : count, verdict];
  const text = parts.filter((part) => part !== "").join(", ");
  const answer = `${arrowOf(pod, asked)}: ${text}${verdict === "reaches" ? "" : `: ${reason}`}`;
  const below = flags.map((flag) => `${flagText(flag)}; check ${flag.next}`);
  const lines = (line: string) => wrapped(visible(line), width - 4).join("\n    ");
  return [lines(answer), ...below.map((flag) => `  ${lines(flag)}`)].map((each) => `${each}\n`).join("");
}

const MODES: Readonly<Record<string, string>> = { mutual: "mTLS", simple: "TLS", plain: "plain text" };
