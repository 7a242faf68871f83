/** Connections and helpers in memory, for the tests of workers. */
import {
  type ByteConnection,
  fakeWorld,
  type FakeWorldOptions,
  realWorld,
  type World,
} from "../../../src/platform/mod.ts";
import { FrameReader } from "../../../src/webhook/workers/frames.ts";

/** Both ends of a connection. */
export function connected(): readonly [ByteConnection, ByteConnection] {
  const [there, back] = [new Pipe(), new Pipe()];
  const close = () => {
    there.end();
    back.end();
  };
  const end = (from: Pipe, to: Pipe): ByteConnection => ({
    read: (buffer) => from.read(buffer),
    write: (bytes) => Promise.resolve().then(() => to.put(bytes)),
    close,
  });
  return [end(back, there), end(there, back)];
}

class Pipe {
  #bytes: number[] = [];
  #isOver = false;
  #wake = () => {};

  put(bytes: Uint8Array): number {
    if (this.#isOver) throw new Error("broken pipe");
    this.#bytes.push(...bytes);
    this.#wake();
    return bytes.length;
  }

  end(): void {
    this.#isOver = true;
    this.#wake();
  }

  async read(buffer: Uint8Array): Promise<number | null> {
    while (this.#bytes.length === 0) {
      if (this.#isOver) return null;
      await new Promise<void>((resolve) => this.#wake = resolve);
    }
    const some = this.#bytes.splice(0, buffer.length);
    buffer.set(some);
    return some.length;
  }
}

/** A worker that was started in memory. */
export interface Started {
  /** Its end of the connection. */
  readonly connection: ByteConnection;
  readonly token: string;
  /** It ends, as by a signal. */
  die(): void;
}

/** A world whose helpers are `run`, and what was done with them. */
export function worldWithHelpers(run: (started: Started) => unknown, options: FakeWorldOptions = {}) {
  const started: Started[] = [];
  const open: ByteConnection[] = [];
  let accepted: (connection: ByteConnection) => void = () => {};
  const base = fakeWorld({
    ...options,
    help: () => {
      const ended = Promise.withResolvers<{ code: number; signal: string }>();
      const die = () => ended.resolve({ code: 137, signal: "SIGKILL" });
      return {
        pid: 100 + started.length,
        ended: ended.promise,
        kill: die,
        close: () => {},
        send: (bytes) => {
          const [first] = new FrameReader().push(bytes);
          const [connection, other] = connected();
          const helper = { connection, token: first?.head ?? "", die };
          started.push(helper);
          open.push(other);
          accepted(other);
          void run(helper);
        },
      };
    },
  });
  const network: World["network"] = {
    ...base.network,
    listenTcp: (_options, take) => {
      accepted = (connection) => take(connection, { hostname: "127.0.0.1", port: 1 });
      return Promise.resolve({ port: 4000, close: () => Promise.resolve(open.forEach((each) => each.close())) });
    },
  };
  return { world: { ...base, network, clock: realWorld().clock }, started, said: base.said };
}
