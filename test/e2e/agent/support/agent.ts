/** Runs the lifecycle of Envoy as a process, as PID 1 of a PID namespace or below it. */
import type { DriverOptions } from "./lifecycle_driver.ts";
import { needsProgram } from "../../../support/test_when.ts";
import { DEADLINE_MILLISECONDS, until } from "../../../support/until.ts";

const DRIVER = decodeURIComponent(new URL("lifecycle_driver.ts", import.meta.url).pathname);

/** How the agent is started. As PID 1 it inherits every orphan of its namespace. */
export type Place = "as PID 1" | "below PID 1";

/** Returns the reason to skip tests in a place; `undefined` if they can run. */
export function needsPlace(place: Place): string | undefined {
  if (Deno.build.os !== "linux") return "not Linux";
  if (place === "below PID 1") return undefined;
  if (Deno.uid() !== 0) return "needs root";
  return needsProgram("unshare") ?? (canUnshare() ? undefined : "no PID namespace can be made");
}

function canUnshare(): boolean {
  return new Deno.Command("unshare", { args: [...UNSHARE, "true"], stderr: "null" }).outputSync().success;
}

const UNSHARE = ["--pid", "--fork", "--mount-proc", "--kill-child"];

/** How long to read output after the exit. A leftover Envoy may keep it open. */
const LAST_WORDS_MILLISECONDS = 2000;

/** A running lifecycle, with its output and its exit. */
export class Agent {
  #text = "";
  #ended = false;
  readonly code: Promise<number>;
  readonly #child: Deno.ChildProcess;
  readonly #commands: WritableStreamDefaultWriter<Uint8Array>;

  constructor(readonly place: Place, options: DriverOptions, prefix: readonly string[] = []) {
    const unshare = place === "as PID 1" ? ["unshare", ...UNSHARE] : [];
    const run = [Deno.execPath(), "run", "--quiet", "--no-check", "--allow-all", DRIVER, JSON.stringify(options)];
    const [program = "", ...args] = [...prefix, ...unshare, ...run];
    const env = { NO_COLOR: "1", MESH_LOG_FORMAT: "text" };
    this.#child = new Deno.Command(program, { args, env, stdin: "piped", stdout: "piped", stderr: "piped" }).spawn();
    this.#commands = this.#child.stdin.getWriter();
    this.code = this.#run();
  }

  async #run(): Promise<number> {
    const kill = setTimeout(() => this.#child.kill("SIGKILL"), 4 * DEADLINE_MILLISECONDS);
    const output = Promise.all([this.#read(this.#child.stdout), this.#read(this.#child.stderr)]);
    const { code } = await this.#child.status;
    clearTimeout(kill);
    const leave = setTimeout(() => this.#killEnvoys(), LAST_WORDS_MILLISECONDS);
    await output;
    clearTimeout(leave);
    this.#ended = true;
    await this.#commands.close().catch(() => {});
    return code;
  }

  /** Processes in a PID namespace end with its PID 1, and have different PIDs outside. */
  #killEnvoys(): void {
    if (this.place === "as PID 1") return;
    for (const [, pid] of this.#text.matchAll(/started with PID (\d+)/g)) {
      try {
        Deno.kill(Number(pid), "SIGKILL");
      } catch (error) {
        if (!(error instanceof Deno.errors.NotFound)) throw error;
      }
    }
  }

  async #read(stream: ReadableStream<Uint8Array>): Promise<void> {
    for await (const text of stream.pipeThrough(new TextDecoderStream())) this.#text += text;
  }

  /** The output so far. */
  get text(): string {
    return this.#text;
  }

  /** Waits until the output matches. */
  async until(said: string | RegExp): Promise<void> {
    const has = () => typeof said === "string" ? this.#text.includes(said) : said.test(this.#text);
    const never = () => `It never said "${said}", but:\n${this.#text}`;
    await until(() => has() || this.#ended, never);
    if (!has()) throw new Error(never());
  }

  /** The PID of the first Envoy. */
  async envoyPid(): Promise<number> {
    const line = /started with PID (\d+)/;
    await this.until(line);
    return Number(line.exec(this.#text)?.[1]);
  }

  async command(text: "quit" | "drain" | "reload"): Promise<void> {
    await this.#commands.write(new TextEncoder().encode(`${text}\n`));
  }

  /** Ends the lifecycle, in any state. */
  async end(): Promise<void> {
    if (!this.#ended) await this.command("quit").catch(() => {});
    await this.code;
  }

  /** Sends a signal from outside of the namespace. */
  signal(name: Deno.Signal): void {
    Deno.kill(this.place === "as PID 1" ? childOf(this.#child.pid) : this.#child.pid, name);
  }
}

/** Returns the only child of `unshare --fork`, which is PID 1 of the namespace. */
export function childOf(parent: number): number {
  for (const { name } of Deno.readDirSync("/proc")) {
    if (/^\d+$/.test(name) && parentOf(name) === parent) return Number(name);
  }
  throw new Error(`Process ${parent} has no child`);
}

function parentOf(pid: string): number | undefined {
  try {
    return Number(/\) \S (\d+) /.exec(Deno.readTextFileSync(`/proc/${pid}/stat`))?.[1]);
  } catch {
    return undefined;
  }
}
