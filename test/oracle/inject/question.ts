/** Questions for injection, answered by Istio and by this project. */
import { changeStream, injection, type Injector, loadInjector } from "../../../src/inject/mod.ts";
import { documents } from "./compare.ts";

/** The three configuration texts for injection. */
export interface Settings {
  readonly config: string;
  readonly values: string;
  readonly mesh: string;
}

/** A manifest, and the settings to inject it with. */
export interface Question {
  readonly name: string;
  readonly settings: Settings;
  readonly manifest: string;
  readonly native: boolean;
  readonly revision: string;
}

/** The injected documents, or the error. */
export type Answer = { readonly documents: readonly unknown[] } | { readonly error: string };

/** Answers questions with this project's code. */
export class Ours {
  readonly #injectors = new Map<Settings, Map<string, Promise<Injector>>>();

  async answer(question: Question): Promise<Answer> {
    try {
      return await this.#inject(question);
    } catch (error) {
      return { error: error instanceof Error ? error.message : String(error) };
    }
  }

  async #inject(question: Question): Promise<Answer> {
    let text = "";
    let error = "";
    const sink = {
      write: (part: string) => void (text += part),
      report: (entry: { error?: Error }) => void (error ||= entry.error?.message ?? ""),
    };
    const chunks = async function* () {
      yield new TextEncoder().encode(question.manifest);
    };
    const { failed } = await changeStream([{ file: "a.yaml", chunks }], injection(await this.#injector(question)), {
      output: "yaml",
      sink,
    });
    return failed > 0 ? { error } : { documents: documents(text) };
  }

  #injector({ settings, native, revision }: Question): Promise<Injector> {
    const key = `${native} ${revision}`;
    const injectors = this.#injectors.get(settings) ?? new Map<string, Promise<Injector>>();
    this.#injectors.set(settings, injectors);
    const known = injectors.get(key);
    if (known !== undefined) return known;
    const source = (text: string, file: string) => ({ text, file });
    const injector = loadInjector({
      config: source(settings.config, "config.yaml"),
      values: source(settings.values, "values.yaml"),
      mesh: source(settings.mesh, "mesh.yaml"),
      revision,
      nativeSidecars: native,
      byHand: true,
      // Templates from before 1.27 read the variable themselves.
      env: (name) => name === "ENABLE_NATIVE_SIDECARS" ? String(native) : undefined,
      now: () => new Date(0),
    });
    injectors.set(key, injector);
    return injector;
  }
}

/** A line of output from the program in this folder. */
export interface Output {
  readonly output: string;
  readonly error?: string;
}

/** Returns Istio's answers, from the program in this folder. */
export async function askIstio(program: string, questions: readonly Question[]): Promise<Answer[]> {
  return (await istioOutputs(program, questions)).map(({ output, error }) =>
    error === undefined ? { documents: documents(output) } : { error }
  );
}

/** Returns Istio's answers as text. */
export async function istioOutputs(program: string, questions: readonly Question[]): Promise<Output[]> {
  const child = new Deno.Command(program, { stdin: "piped", stdout: "piped", stderr: "null" }).spawn();
  const [, { stdout }] = await Promise.all([send(child.stdin, questions), child.output()]);
  return new TextDecoder().decode(stdout).trimEnd().split("\n").map((line): Output => JSON.parse(line));
}

async function send(stdin: WritableStream<Uint8Array>, questions: readonly Question[]): Promise<void> {
  const writer = stdin.getWriter();
  const write = (line: unknown) => writer.write(new TextEncoder().encode(`${JSON.stringify(line)}\n`));
  const numbers = new Map<string, number>();
  for (const { settings, manifest, native, revision } of questions) {
    const key = JSON.stringify(settings);
    if (!numbers.has(key)) {
      numbers.set(key, numbers.size);
      await write({ settings });
    }
    await write({ use: numbers.get(key), manifest, native, revision });
  }
  await writer.close();
}
