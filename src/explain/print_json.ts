import type { Answer } from "./answer_schema.ts";

/** Answers as JSON: one as a document, several as a line each. */
export function answersJson(answers: readonly Answer[]): string {
  const [only] = answers;
  if (answers.length === 1 && only !== undefined) return `${JSON.stringify(only, undefined, 2)}\n`;
  return answers.map((answer) => `${JSON.stringify(answer)}\n`).join("");
}
