/** A pod of the tests: a network namespace and a neighbour, connected by a veth pair. Both are removed after the test. */
import { checkPrinted } from "../../../support/printed_json.ts";
import { MESH_BINARY, MESH_COMMAND } from "../../../support/programs/mesh.ts";
import { needsProgram } from "../../../support/test_when.ts";

/** Addresses of both ends. */
export const POD = { 4: "10.199.0.2", 6: "fd99::2" } as const;
export const OUTSIDE = { 4: "10.199.0.1", 6: "fd99::1" } as const;
/** Addresses of both ends of a second link, `eth1`. */
export const SECOND = {
  pod: { 4: "10.198.0.2", 6: "fd98::2" },
  outside: { 4: "10.198.0.1", 6: "fd98::1" },
} as const;
export type Family = 4 | 6;

const SAY = decodeURIComponent(new URL("./say_main.ts", import.meta.url).pathname);
const TRAFFIC = decodeURIComponent(new URL("./traffic.py", import.meta.url).pathname);

/** Why these tests cannot run here; `undefined` if they can. */
export function needsNamespaces(...programs: readonly string[]): string | undefined {
  if (Deno.uid() !== 0) return "it needs root, for network namespaces";
  return ["ip", "unshare", "nsenter", "python3", ...programs].map(needsProgram).find((reason) => reason !== undefined);
}

/** What a program did. */
export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** How to run a program. All fields are optional. */
export interface RunOptions {
  readonly env?: Record<string, string>;
  readonly stdin?: string;
  readonly seconds?: number;
  /** Shell lines that prepare the mount namespace of the program. */
  readonly mounts?: string;
}

/** A connection, and the user who makes it. */
export interface Request {
  readonly uid?: number;
  readonly gid?: number;
  readonly protocol?: "tcp" | "udp";
  readonly host: string;
  readonly port: number;
}

/** Where a connection arrived. */
export interface Answer {
  readonly port: number;
  readonly original?: readonly [string, number];
}

/** Ports to listen on. */
export interface Ports {
  readonly tcp?: readonly number[];
  readonly udp?: readonly number[];
  readonly transparent?: readonly number[];
  /** On the loopback addresses only, as the agent answers DNS. */
  readonly loopback?: boolean;
  /** The listening user; by default root. */
  readonly uid?: number;
}

/** A command line that the process of `say` runs. */
export interface Saying {
  /** The path of the network namespace. */
  readonly netns: string;
  readonly args: readonly string[];
  readonly env: Record<string, string> | undefined;
}

/** A process that answers each line of JSON with a line of JSON. */
class Conversation {
  readonly #questions: WritableStreamDefaultWriter<Uint8Array>;
  readonly #answers: ReadableStreamDefaultReader<string>;
  #last: Promise<unknown> = Promise.resolve();

  constructor(readonly child: Deno.ChildProcess) {
    this.#questions = child.stdin.getWriter();
    this.#answers = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  }

  /** The answer as JSON. Questions wait for each other. */
  ask(question: unknown): Promise<string> {
    const answer = this.#last.then(() => this.#ask(`${JSON.stringify(question)}\n`));
    this.#last = answer.catch(() => {});
    return answer;
  }

  async #ask(question: string): Promise<string> {
    await this.#questions.write(new TextEncoder().encode(question));
    for (let answer = "";;) {
      const { value } = await this.#answers.read();
      if (value === undefined) throw new Error(`The process ended at ${question}`);
      answer += value;
      if (answer.endsWith("\n")) return answer;
    }
  }

  /** Closes the input, and waits until the process ends. */
  async end(): Promise<void> {
    await this.#questions.close();
    await this.child.status;
    await this.#answers.cancel();
  }
}

let speaker: Conversation | undefined;

/**
 * Starts the process that runs the program's sources for all calls of `say` in this file. Call it outside of tests,
 * because no test owns the process. Does nothing if a binary is under test.
 */
export function startSaying(): void {
  if (MESH_BINARY !== undefined || needsNamespaces() !== undefined) return;
  const args = ["run", "--quiet", "--no-check", "--allow-all", SAY];
  const child = new Deno.Command(Deno.execPath(), { args, stdin: "piped", stdout: "piped" }).spawn();
  globalThis.addEventListener("unload", () => child.kill());
  speaker = new Conversation(child);
}

let made = 0;

/** A network namespace of the test. */
export class Namespace implements AsyncDisposable {
  private readonly servers: Deno.ChildProcess[] = [];
  private asker: Conversation | undefined;

  private constructor(readonly name: string) {}

  static async create(): Promise<Namespace> {
    const run = Deno.env.get("MESH_TEST_RUN") ?? "alone";
    const name = `mesh-test-${run}-${Deno.pid}-${++made}`;
    await succeed("ip", ["netns", "add", name]);
    return new Namespace(name);
  }

  get path(): string {
    return `/run/netns/${this.name}`;
  }

  /** Runs a program in the namespace to its end. */
  run(command: string, args: readonly string[], { env = {}, ...options }: RunOptions = {}): Promise<Ran> {
    // A PATH in `env` is for the command only: nsenter(1) and env(1) come from the PATH of the tests.
    const own = ["env", ...Object.entries(env).map(([name, value]) => `${name}=${value}`), command, ...args];
    const inner = options.mounts === undefined
      ? own
      : ["unshare", "-m", "sh", "-c", `set -e; ${options.mounts}\nexec "$@"`, "sh", ...own];
    return execute("nsenter", [`--net=${this.path}`, ...inner], options);
  }

  /** Runs shell lines. Throws if one fails. */
  async shell(text: string): Promise<string> {
    const { code, stdout, stderr } = await this.run("sh", ["-ec", text]);
    if (code !== 0) throw new Error(`exit code ${code} of "${text}": ${stderr}`);
    return stdout;
  }

  /** The program under test; JSON is checked against its schema. */
  async mesh(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
    const ran = await this.run(MESH_COMMAND, args, options);
    checkPrinted(args, ran);
    return ran;
  }

  /** Like `mesh`, but sequential, and without a new process if the file has called {@link startSaying}. */
  async say(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
    if (speaker === undefined || options.mounts !== undefined) return await this.mesh(args, options);
    const saying: Saying = { netns: this.path, args, env: options.env };
    return JSON.parse(await speaker.ask(saying));
  }

  /** Starts listeners, which answer until the namespace is removed. */
  async serve(ports: Ports): Promise<void> {
    const child = this.startTraffic("serve", JSON.stringify(ports));
    this.servers.push(child);
    const reader = child.stdout.getReader();
    const { value } = await reader.read();
    reader.releaseLock();
    if (value === undefined) throw new Error("the listeners did not start");
  }

  private startTraffic(...args: readonly string[]): Deno.ChildProcess {
    const python = [`--net=${this.path}`, "python3", TRAFFIC, ...args];
    return new Deno.Command("nsenter", { args: python, stdin: "piped", stdout: "piped" }).spawn();
  }

  /** Makes connections at the same time. Returns where each arrived; `undefined` without an answer. */
  async ask(requests: readonly Request[]): Promise<(Answer | undefined)[]> {
    this.asker ??= new Conversation(this.startTraffic("ask"));
    const answers: (Answer | null)[] = JSON.parse(await this.asker.ask(requests));
    return answers.map((answer) => answer ?? undefined);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.asker?.end();
    for (const server of this.servers) {
      await server.stdin.close();
      await server.status;
      await server.stdout.cancel();
    }
    await succeed("ip", ["netns", "delete", this.name]);
  }
}

/** A pod and its neighbour, connected, with addresses of the given families. */
export class Pair implements AsyncDisposable {
  private constructor(readonly pod: Namespace, readonly outside: Namespace) {}

  static async create(families: readonly Family[] = [4, 6]): Promise<Pair> {
    const [pod, outside] = [await Namespace.create(), await Namespace.create()];
    await pod.shell(`ip link set lo up; ip link add eth0 type veth peer name eth0 netns ${outside.name}`);
    await outside.shell(`ip link set lo up; ${addresses(OUTSIDE, families)}`);
    await pod.shell(`${addresses(POD, families)}; ${families.map(defaultRoute).join("; ")}`);
    if (families.includes(6)) await pod.shell(ADDRESS_IN_USE);
    return new Pair(pod, outside);
  }

  /** A second link `eth1`. The neighbour routes the documentation networks over it. */
  async addSecondLink(): Promise<void> {
    await this.pod.shell(`ip link add eth1 type veth peer name eth1 netns ${this.outside.name}`);
    await this.pod.shell(addresses(SECOND.pod, [4, 6], "eth1"));
    await this.outside.shell(addresses(SECOND.outside, [4, 6], "eth1"));
    await this.outside.shell(
      `ip route add 203.0.113.0/24 via ${SECOND.pod[4]}; ip -6 route add 2001:db8::/32 via ${SECOND.pod[6]}`,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.pod[Symbol.asyncDispose]();
    await this.outside[Symbol.asyncDispose]();
  }
}

function addresses(of: Readonly<Record<Family, string>>, families: readonly Family[], device = "eth0"): string {
  const add = families.map((family) => `ip addr add ${of[family]}/${family === 4 ? "24" : "64 nodad"} dev ${device}`);
  return [`ip link set ${device} up`, ...add].join("; ");
}

/** Waits for the route of the IPv6 address, which the kernel adds later than the address. */
const ADDRESS_IN_USE = `for try in $(seq 1000); do ip -6 route show table local | grep -q "^local ${
  POD[6]
} " && exit; sleep 0.01; done; exit 1`;

function defaultRoute(family: Family): string {
  return `ip ${family === 6 ? "-6 " : ""}route add default via ${OUTSIDE[family]}`;
}

/** Runs a program to its end, within a timeout. */
export async function execute(command: string, args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const child = new Deno.Command("timeout", {
    args: ["--signal=KILL", String(options.seconds ?? 120), command, ...args],
    env: { KUBECONFIG: "/nonexistent", ...options.env },
    stdin: options.stdin === undefined ? "null" : "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  if (options.stdin !== undefined) await new Blob([options.stdin]).stream().pipeTo(child.stdin).catch(() => {});
  const { code, stdout, stderr } = await child.output();
  return { code, stdout: new TextDecoder().decode(stdout), stderr: new TextDecoder().decode(stderr) };
}

async function succeed(command: string, args: readonly string[]): Promise<void> {
  const { code, stderr } = await execute(command, args);
  if (code !== 0) throw new Error(`${command} ${args.join(" ")}: ${stderr}`);
}
