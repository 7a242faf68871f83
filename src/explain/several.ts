import { UsageError } from "../base/errors.ts";

/** Answers as JSON: one answer as a document, several as one line each. */
export function answersJson(answers: readonly object[]): string {
  if (answers.length === 1) return `${JSON.stringify(answers[0], undefined, 2)}\n`;
  return answers.map((answer) => `${JSON.stringify(answer)}\n`).join("");
}

/** The only answer, for an output that shows one, such as "A picture". Errors: a UsageError if there are several. */
export function onlyOne<T>([only, ...others]: readonly T[], output = "A picture"): T {
  if (only !== undefined && others.length === 0) return only;
  throw new UsageError(`${output} is of one pod, and there are ${others.length + 1}`, {
    hint: "name a pod as pod/NAME",
  });
}
