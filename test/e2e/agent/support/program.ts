/** Runs the program in a new PID namespace, as PID 1 or below a shell. All processes in the namespace end with it. */
import { childOf, type Place } from "./agent.ts";
import { DEADLINE_MILLISECONDS, until } from "../../../support/until.ts";

/** How to start a program. */
export interface Start {
  readonly place: Place;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** The path of the network namespace. */
  readonly netns: string;
  readonly uid: number;
  /** Shell lines that prepare the mount namespace, as root. */
  readonly mounts: string;
  /** Seconds after which the program is killed. */
  readonly seconds: number;
}

/** Exit code and output. */
export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const NOBODY_ELSE = ["--pid", "--fork", "--mount-proc"];

/** A running program, with its output and its exit. */
export class Program implements AsyncDisposable {
  readonly end: Promise<Ended>;
  readonly #child: Deno.ChildProcess;
  readonly #place: Place;
  #stdout = "";
  #stderr = "";
  #ended = false;
  #first = 0;
  readonly #milliseconds: number;

  constructor(argv: readonly string[], start: Partial<Start> & Pick<Start, "cwd" | "env" | "netns">) {
    this.#place = start.place ?? "as PID 1";
    this.#milliseconds = start.seconds === undefined ? DEADLINE_MILLISECONDS : start.seconds * 1000;
    const { cwd, netns, uid = 0, mounts = "" } = start;
    const user = uid === 0 ? [] : ["setpriv", `--reuid=${uid}`, `--regid=${uid}`, "--clear-groups"];
    const parent = this.#place === "as PID 1" ? [] : ["sh", "-c", '"$@"; exit $?', "sh"];
    const inner = ["sh", "-c", `set -e; ${mounts}\nexec "$@"`, "sh", ...parent, ...user, ...argv];
    const args = [`--net=${netns}`, "unshare", ...NOBODY_ELSE, ...inner];
    const env = { NO_COLOR: "1", ...start.env };
    this.#child = new Deno.Command("nsenter", { args, cwd, env, stdin: "null", stdout: "piped", stderr: "piped" })
      .spawn();
    this.end = this.#run();
  }

  /** The output so far. */
  get text(): string {
    return this.#stdout + this.#stderr;
  }

  /** The PID outside of the namespace. */
  pid(): number {
    this.#first ||= childOf(this.#child.pid);
    return this.#place === "as PID 1" ? this.#first : childOf(this.#first);
  }

  signal(name: Deno.Signal): void {
    Deno.kill(this.pid(), name);
  }

  /** Sends a signal unless the program has ended in the meantime. */
  signalIfThere(name: Deno.Signal): void {
    try {
      this.signal(name);
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }

  /** Waits until the output matches. */
  async until(said: string | RegExp): Promise<void> {
    await this.#untilTrue(`It never said "${said}"`, () => {
      return typeof said === "string" ? this.text.includes(said) : said.test(this.text);
    });
  }

  /** Waits until the program handles all its signals. The shell that starts it handles only some of them. */
  async handlesSignals(): Promise<void> {
    await this.#untilTrue("It never handled signals", () => (this.#caught() & SIGNALS) === SIGNALS);
  }

  /** The signals that the program handles, as in proc_pid_status(5); 0 if there is no process. */
  #caught(): bigint {
    try {
      const status = Deno.readTextFileSync(`/proc/${this.pid()}/status`);
      return BigInt(`0x${/^SigCgt:\s+(\w+)$/m.exec(status)?.[1] ?? "0"}`);
    } catch {
      return 0n;
    }
  }

  async #untilTrue(problem: string, isTrue: () => boolean): Promise<void> {
    const text = () => `${problem}, but:\n${this.text}`;
    await until(() => {
      if (this.#ended && !isTrue()) throw new Error(text());
      return isTrue();
    }, text);
  }

  async #run(): Promise<Ended> {
    const kill = setTimeout(() => this.#kill(), this.#milliseconds);
    const [{ code }] = await Promise.all([
      this.#child.status,
      this.#read(this.#child.stdout, (text) => this.#stdout += text),
      this.#read(this.#child.stderr, (text) => this.#stderr += text),
    ]);
    clearTimeout(kill);
    this.#ended = true;
    return { code, stdout: this.#stdout, stderr: this.#stderr };
  }

  async #read(stream: ReadableStream<Uint8Array>, take: (text: string) => void): Promise<void> {
    for await (const text of stream.pipeThrough(new TextDecoderStream())) take(text);
  }

  /** Kills the first process of the namespace; the kernel then kills all others. */
  #kill(): void {
    try {
      Deno.kill(this.#first || childOf(this.#child.pid), "SIGKILL");
    } catch {
      // The process has already ended.
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#ended) this.#kill();
    await this.end;
  }
}

/** SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2 and SIGTERM, as bits. */
const SIGNALS = [1, 2, 3, 10, 12, 15].reduce((bits, number) => bits | 1n << BigInt(number - 1), 0n);
