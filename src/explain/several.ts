import { UsageError } from "../base/errors.ts";

/** Returns answers as JSON: a single answer as a document, several answers as one line each. */
export function answersJson(answers: readonly object[]): string {
  if (answers.length === 1) return `${JSON.stringify(answers[0], undefined, 2)}\n`;
  return answers.map((answer) => `${JSON.stringify(answer)}\n`).join("");
}

/** Returns the only answer, for an output such as "A picture". Throws a UsageError for several answers. */
export function onlyOne<T>([only, ...others]: readonly T[], output = "A picture"): T {
  if (only !== undefined && others.length === 0) return only;
  throw new UsageError(`${output} can show only one pod, but ${others.length + 1} are selected`, {
    hint: "name a pod as pod/NAME",
  });
}
