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

  /**
   * Returns the results in the order of the questions; `undefined` if the image has no shell. Throws an ExecError for
   * any other failure.
   */
  async run(
    api: Pick<KubeConnection, "exec">,
    request: Omit<ExecRequest, "command">,
    { questions, image }: { readonly questions: readonly PartCommand[]; readonly image: string },
  ): Promise<readonly PartResult[] | undefined> {
    if (this.#withoutShell.has(image)) return undefined;
    const results = await this.#results(api, { ...request, command: ["sh", "-c", this.#script(questions)] });
    if (results.length === questions.length) return results;
    this.#withoutShell.add(image);
    return undefined;
  }

  async #results(api: Pick<KubeConnection, "exec">, request: ExecRequest): Promise<readonly PartResult[]> {
    try {
      return this.#parts(await api.exec(request));
    } catch (error) {
      if (error instanceof ExecError && error.failure === "no-command") return [];
      throw error;
    }
  }

  #script(questions: readonly PartCommand[]): string {
    return questions.map(({ command }) =>
      `${command.map(shellQuoted).join(" ")}; printf '\\n%s %s\\n' ${this.#mark} $?`
    )
      .join("; ");
  }

  #parts({ stdout, stderr }: ExecResult): PartResult[] {
    const [first = "", ...rest] = new TextDecoder().decode(stdout).split(`\n${this.#mark} `);
    const encoder = new TextEncoder();
    const parts: PartResult[] = [];
    let own = first;
    for (const part of rest) {
      // Each part starts with the exit code of the command before it. The output of the next command starts on the next
      // line.
      const end = part.indexOf("\n");
      if (end < 0) break;
      parts.push({ code: Number(part.slice(0, end)), stdout: encoder.encode(own), stderr });
      own = part.slice(end + 1);
    }
    return parts;
  }
}
