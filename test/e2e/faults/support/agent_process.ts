/**
 * The agent in a pod that shares the PID namespace of the tests, which so see processes that it leaves behind. Each
 * command before the program replaces itself by the next one (`prlimit`, `setpriv`), so that its PID becomes the
 * agent's.
 */
import { MESH_COMMAND } from "../../../support/programs/mesh.ts";
import { until } from "../../../support/until.ts";
import { type MeshPod, PROXY_UID } from "../../agent/support/mesh_pod.ts";

/** How the agent is started. All fields are optional. */
export interface AgentStart {
  readonly argv?: readonly string[];
  /** Another program with its arguments, instead of this one with `argv`. */
  readonly command?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly uid?: number;
  /** Shell lines that prepare the process as root, in a mount namespace of its own. */
  readonly prepare?: string;
  /** Arguments before the program, such as `prlimit --nofile=64`. */
  readonly before?: readonly string[];
  /** Where standard error goes, in place of `text`: the part of a shell line after `2>`. */
  readonly errors?: string;
}

/** How the agent ended. */
export interface AgentEnd {
  readonly code: number;
  /** Milliseconds since the last call of `signal`, else since the start. */
  readonly milliseconds: number;
}

/** Output and end of an agent. */
export class AgentProcess implements AsyncDisposable {
  readonly end: Promise<AgentEnd>;
  readonly pid: number;
  readonly #child: Deno.ChildProcess;
  #text = "";
  #ended = false;
  #since = performance.now();

  constructor(readonly pod: MeshPod, start: AgentStart = {}) {
    const { argv = ["agent"], command = [MESH_COMMAND, ...argv], uid = PROXY_UID, prepare = "" } = start;
    const { before = [], errors } = start;
    const user = uid === 0 ? [] : ["setpriv", `--reuid=${uid}`, `--regid=${uid}`, "--clear-groups"];
    const redirect = errors === undefined ? "" : ` 2> ${errors}`;
    const shell = ["unshare", "-m", "sh", "-c", `set -e; ${prepare}\nexec "$@"${redirect}`, "sh"];
    this.#child = new Deno.Command("nsenter", {
      args: [`--net=${pod.namespace.path}`, ...shell, ...user, ...before, ...command],
      cwd: pod.folder,
      env: { NO_COLOR: "1", ...pod.env(), ...start.env },
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    this.pid = this.#child.pid;
    this.end = this.#run();
  }

  /** Its output so far. */
  get text(): string {
    return this.#text;
  }

  get hasEnded(): boolean {
    return this.#ended;
  }

  /** Sends a signal, unless it has ended. */
  signal(name: Deno.Signal): void {
    if (this.#ended) return;
    this.#since = performance.now();
    try {
      this.#child.kill(name);
    } catch {
      // It has just ended.
    }
  }

  /** Waits until the output matches. Throws if the agent ends before. */
  async until(said: string | RegExp): Promise<void> {
    const has = () => typeof said === "string" ? this.#text.includes(said) : said.test(this.#text);
    const never = () => `It never said "${said}", but:\n${this.#text.slice(-4000)}`;
    await until(() => has() || this.#ended, never);
    if (!has()) throw new Error(never());
  }

  /** The programs that run in the folder of its pod: the agent, and what it has started. */
  processes(): number[] {
    return processesIn(this.pod.folder);
  }

  /** The memory in use (proc_pid_status(5), VmRSS), in MiB. */
  memory(): number {
    const status = Deno.readTextFileSync(`/proc/${this.pid}/status`);
    return Math.round(Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024);
  }

  /** Processor time so far, in milliseconds (proc_pid_stat(5), utime and stime; a tick is 10 ms). */
  processorTime(): number {
    const stat = Deno.readTextFileSync(`/proc/${this.pid}/stat`);
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return 10 * (Number(fields[11]) + Number(fields[12]));
  }

  async #run(): Promise<AgentEnd> {
    const read = async (stream: ReadableStream<Uint8Array>) => {
      for await (const text of stream.pipeThrough(new TextDecoderStream())) {
        this.#text = (this.#text + text).slice(-KEPT);
      }
    };
    const reading = Promise.all([read(this.#child.stdout), read(this.#child.stderr)]);
    const { code } = await this.#child.status;
    const milliseconds = performance.now() - this.#since;
    this.#ended = true;
    // A child process that outlives the agent may hold the output open.
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(late.resolve, LAST_WORDS);
    await Promise.race([reading, late.promise]);
    clearTimeout(timer);
    return { code, milliseconds };
  }

  /** Kills it and what it has started. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.signal("SIGKILL");
    await this.end;
    for (const pid of this.processes()) kill(pid);
  }
}

/** Characters of output that are kept, because some tests flood the output. */
const KEPT = 4_000_000;
const LAST_WORDS = 2000;

function kill(pid: number): void {
  try {
    Deno.kill(pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}

function processesIn(folder: string): number[] {
  const pids: number[] = [];
  for (const { name } of Deno.readDirSync("/proc")) {
    if (/^\d+$/.test(name) && cwdOf(name) === folder) pids.push(Number(name));
  }
  return pids;
}

/** `undefined` if the process has ended, also if nobody has reaped it. */
function cwdOf(pid: string): string | undefined {
  try {
    return Deno.readLinkSync(`/proc/${pid}/cwd`);
  } catch {
    return undefined;
  }
}
