import { textAnswer } from "./http.ts";

/** One thing that readiness depends on, or that whoever asks should know. */
export interface Check {
  readonly name: string;
  /** What is well. */
  readonly fine: string;
  /** What is not; `undefined` if all is well. */
  readonly problem: () => string | undefined;
  /** Reviews can be answered all the same. */
  readonly isTolerable: boolean;
}

/** Answers `/ready`: 200 while reviews can be answered; with `?verbose` a line for each check, as Kubernetes has it. */
export function readyHandler(checks: readonly Check[]) {
  return ({ url }: Request): Response => {
    const found = checks.map((check) => ({ check, problem: check.problem() }));
    const isReady = found.every(({ check, problem }) => problem === undefined || check.isTolerable);
    const lines = new URL(url).searchParams.has("verbose")
      ? found.map(({ check, problem }) => line(check, problem))
      : [];
    return textAnswer(isReady ? 200 : 503, `${lines.join("")}${isReady ? "ready" : "not ready"}\n`);
  };
}

/** `[+]` is well, `[!]` is not and does no harm yet, `[-]` is not. */
function line({ name, fine, isTolerable }: Check, problem: string | undefined): string {
  if (problem === undefined) return `[+]${name} ok: ${fine}\n`;
  return `[${isTolerable ? "!" : "-"}]${name} failed: ${problem}\n`;
}
