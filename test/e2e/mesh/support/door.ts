/** A forwarder (`door_main.ts`) as a process, in a network namespace or outside. */
import type { Namespace } from "../../iptables/support/pod.ts";
import type { Place } from "./door_main.ts";

const MAIN = decodeURIComponent(new URL("door_main.ts", import.meta.url).pathname);

/** Forwards connections until it is closed. */
export class Door implements AsyncDisposable {
  readonly #commands: WritableStreamDefaultWriter<Uint8Array>;

  private constructor(readonly child: Deno.ChildProcess) {
    this.#commands = child.stdin.getWriter();
  }

  /** Starts the forwarder. It accepts connections when the promise resolves. */
  static async open(from: Place, to: Place, namespace?: Namespace): Promise<Door> {
    const enter = namespace === undefined ? [] : ["nsenter", `--net=${namespace.path}`];
    const run = [Deno.execPath(), "run", "--quiet", "--no-check", "--allow-all", MAIN];
    const [command = "", ...args] = [...enter, ...run, JSON.stringify(from), JSON.stringify(to)];
    const door = new Door(new Deno.Command(command, { args, stdin: "piped", stdout: "piped" }).spawn());
    const said = door.child.stdout.getReader();
    const { done } = await said.read();
    said.releaseLock();
    if (done) throw new Error(`The door to ${JSON.stringify(to)} did not open`);
    return door;
  }

  /** Delays each piece of data by this many milliseconds. */
  async delay(milliseconds: number): Promise<void> {
    await this.#commands.write(new TextEncoder().encode(`${milliseconds}\n`));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#commands.close();
    await this.child.status;
    await this.child.stdout.cancel();
  }
}

/** Makes a TCP port of this machine's loopback reachable at the same address inside a namespace. */
export async function tunnel(namespace: Namespace, port: number, socket: string): Promise<AsyncDisposableStack> {
  await using doors = new AsyncDisposableStack();
  const local: Place = { transport: "tcp", hostname: "127.0.0.1", port };
  doors.use(await Door.open({ transport: "unix", path: socket }, local));
  doors.use(await Door.open(local, { transport: "unix", path: socket }, namespace));
  return doors.move();
}
