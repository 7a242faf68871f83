/**
 * Writes Istio's answers to the questions. It takes minutes to build Istio's code, so tests read the recorded answers:
 *
 *     tools/deno run -A test/oracle/inject/record.ts [FILE]
 *
 * FILE is the path of the program if it is already built.
 */
import { needsInjectCases } from "../../support/cases/inject.ts";
import { OWN_CASES, questionOf } from "./own/cases.ts";
import { askIstio, istioOutputs } from "./question.ts";
import { type Origin, questions } from "./questions.ts";
import { RECORDED, writeRecorded, writeRecordedCases } from "./recorded.ts";

const program = Deno.args[0] ?? await built();

const outputs = await istioOutputs(program, OWN_CASES.map(questionOf));
await writeRecordedCases(OWN_CASES.map(({ name }, index) => ({ name, ...outputs[index] ?? { output: "" } })));

const origins: readonly Origin[] = needsInjectCases === undefined ? ["own", "shared"] : ["own"];
for (const origin of origins) {
  const asked = questions(RECORDED, origin);
  const answers = await askIstio(program, asked);
  await writeRecorded(
    origin,
    asked.flatMap(({ name }, index) => {
      const answer = answers[index];
      return answer === undefined ? [] : [{ name, answer }];
    }),
  );
}

async function built(): Promise<string> {
  const folder = decodeURIComponent(new URL(".", import.meta.url).pathname);
  const program = `${await Deno.makeTempDir()}/oracle`;
  const { success } = await new Deno.Command("go", { args: ["build", "-o", program, "."], cwd: folder }).output();
  if (!success) throw new Error("The oracle does not build: run `go build .` in its folder");
  return program;
}
