/** The application of a pod: a process in the pod's network namespace that serves port 8080 and sends requests. */
import type { Ask, Command, Reply } from "./application_main.ts";
import { until } from "../../../support/until.ts";

const MAIN = decodeURIComponent(new URL("application_main.ts", import.meta.url).pathname);

/** The command of the process. */
export const APPLICATION: readonly string[] = [Deno.execPath(), "run", "--quiet", "--no-check", "--allow-all", MAIN];

/** The application, as the test controls it. */
export class Application implements AsyncDisposable {
  readonly #commands: WritableStreamDefaultWriter<Uint8Array>;
  readonly #waiting = new Map<number, (reply: Reply) => void>();
  readonly #reading: Promise<void>;
  readonly #started = Promise.withResolvers<{ readonly code?: number }>();
  #held = 0;
  #asked = 0;

  private constructor(readonly child: Deno.ChildProcess) {
    this.#commands = child.stdin.getWriter();
    this.#reading = this.#read();
  }

  /** Starts the application in a network namespace, with this command. */
  static async start(netns: string, command: readonly string[] = APPLICATION): Promise<Application> {
    const args = [`--net=${netns}`, ...command];
    const app = new Application(new Deno.Command("nsenter", { args, stdin: "piped", stdout: "piped" }).spawn());
    const { code } = await Promise.race([app.#started.promise, app.child.status]);
    if (code !== undefined) throw new Error(`The application exited with code ${code}`);
    return app;
  }

  /** Sends a request inside the pod, on a new connection. Never rejects because of the peer. */
  async ask(url: string, more: Omit<Ask, "id" | "url"> = {}): Promise<Reply> {
    const id = ++this.#asked;
    const reply = Promise.withResolvers<Reply>();
    this.#waiting.set(id, reply.resolve);
    await this.#send({ id, url, ...more });
    return await reply.promise;
  }

  /** Makes the application also serve this address: `[ADDRESS:]PORT`. */
  async listen(place: string): Promise<void> {
    await this.#send({ listen: place });
  }

  /** Waits until this many requests to `/wait` are in flight. */
  async holds(count: number): Promise<void> {
    await until(() => this.#held >= count, () => "No request has come to the application");
  }

  /** Responds to all requests in flight. */
  async release(): Promise<void> {
    this.#held = 0;
    await this.#send("release");
  }

  async #send(command: Command): Promise<void> {
    await this.#commands.write(new TextEncoder().encode(`${JSON.stringify(command)}\n`));
  }

  async #read(): Promise<void> {
    let rest = "";
    for await (const text of this.child.stdout.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) this.#hear(JSON.parse(line));
    }
  }

  #hear(message: Reply | "started" | "held"): void {
    if (message === "started") this.#started.resolve({});
    else if (message === "held") this.#held++;
    else this.#waiting.get(message.id)?.(message);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#commands.close();
    await Promise.all([this.child.status, this.#reading]);
  }
}
