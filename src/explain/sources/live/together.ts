/**
 * Runs several commands with one exec if the image has a shell, which halves the number of execs for a table of pods.
 * Istio's default images have a shell; distroless images do not.
 */
import { ExecError, type ExecRequest, type ExecResult, type KubeConnection } from "../../../kube/client/mod.ts";
import { shellQuoted } from "../../../base/text/mod.ts";
import type { PartCommand } from "./questions.ts";

/** Output and exit code of a command. */
export type PartResult = Pick<ExecResult, "code" | "stdout" | "stderr">;

/** Runs several commands with one exec. Remembers images without a shell. */
export class Together {
  readonly #withoutShell = new Set<string>();
  readonly #mark: string;

  /** `mark` separates the outputs. It must not occur in any output. */
  constructor(mark: string = crypto.randomUUID()) {
    this.#mark = mark;
  }

  /** Returns the questions with their results; `undefined` if the image has no shell. Throws an ExecError otherwise. */
  async run(
    api: Pick<KubeConnection, "exec">,
    request: Omit<ExecRequest, "command">,
    { questions, image }: { readonly questions: readonly PartCommand[]; readonly image: string },
  ): Promise<readonly (readonly [PartCommand, PartResult])[] | undefined> {
    if (this.#withoutShell.has(image)) return undefined;
    try {
      const results = this.#parts(await api.exec({ ...request, command: ["sh", "-c", this.#script(questions)] }));
      const answered = questions.flatMap((question, at) =>
        results[at] === undefined ? [] : [[question, results[at]] as const]
      );
      if (answered.length === questions.length) return answered;
    } catch (error) {
      if (!(error instanceof ExecError) || error.failure !== "no-command") throw error;
    }
    this.#withoutShell.add(image);
    return undefined;
  }

  /** Prints the mark and the exit code after the output of each command. */
  #script(questions: readonly PartCommand[]): string {
    const print = `printf '\\n%s %s\\n' ${this.#mark} $?`;
    return questions.map(({ command }) => `${command.map(shellQuoted).join(" ")}; ${print}`).join("; ");
  }

  #parts({ stdout, stderr }: ExecResult): PartResult[] {
    const text = new TextDecoder().decode(stdout);
    const ends = [...text.matchAll(new RegExp(`\n${this.#mark} (\\d+)\n`, "g"))];
    const encoder = new TextEncoder();
    let from = 0;
    return ends.map(({ 0: end, 1: code, index }) => {
      const own = text.slice(from, index);
      from = index + end.length;
      return { code: Number(code), stdout: encoder.encode(own), stderr };
    });
  }
}
