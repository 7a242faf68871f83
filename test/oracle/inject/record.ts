/**
 * Writes Istio's answers to the questions. Building Istio's code takes minutes, so the test reads what is recorded:
 *
 *     tools/deno run -A test/oracle/inject/record.ts
 */
import { askIstio } from "./question.ts";
import { questions } from "./questions.ts";
import { RECORDED, writeRecorded } from "./recorded.ts";

const folder = decodeURIComponent(new URL(".", import.meta.url).pathname);
const program = `${await Deno.makeTempDir()}/oracle`;
const { success } = await new Deno.Command("go", { args: ["build", "-o", program, "."], cwd: folder }).output();
if (!success) throw new Error("The oracle does not build: run `go build .` in its folder");
const asked = questions(RECORDED);
const answers = await askIstio(program, asked);
await writeRecorded(asked.flatMap(({ name }, index) => {
  const answer = answers[index];
  return answer === undefined ? [] : [{ name, answer }];
}));
