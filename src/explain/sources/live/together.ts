/**
 * Several commands by one exec, where the image has a shell: lines about hundreds of pods need half as many. Istio's usual
 * images have one, distroless ones do not.
 */
import { ExecError, type ExecRequest, type ExecResult, type KubeConnection } from "../../../kube/client/mod.ts";
import type { PartCommand } from "./questions.ts";

/** What a command printed, and how it ended. */
export type PartResult = Pick<ExecResult, "code" | "stdout" | "stderr">;

/** Runs commands together, and remembers the images in which that is not possible. */
export class Together {
  readonly #withoutShell = new Set<string>();
  readonly #mark: string;

  /** `mark` is a text that no answer has. */
  constructor(mark: string = crypto.randomUUID()) {
    this.#mark = mark;
  }

  /**
   * The results in the order of the questions; `undefined` if the image has no shell. Errors: an ExecError for another reason
   * why nothing ran.
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
    return questions.map(({ command }) => `${command.map(quoted).join(" ")}; printf '\\n%s %s\\n' ${this.#mark} $?`)
      .join("; ");
  }

  #parts({ stdout, stderr }: ExecResult): PartResult[] {
    const text = new TextDecoder().decode(stdout);
    const ends = [...text.matchAll(new RegExp(`\\n${this.#mark} (\\d+)\\n`, "g"))];
    const encoder = new TextEncoder();
    return ends.map((end, at) => {
      const before = ends[at - 1];
      const start = before === undefined ? 0 : before.index + before[0].length;
      return { code: Number(end[1]), stdout: encoder.encode(text.slice(start, end.index)), stderr };
    });
  }
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
