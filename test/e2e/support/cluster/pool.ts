/**
 * API servers that the tests of a run share. Only one test file uses a server at a time, and finds it in its first
 * state.
 */
import { ApiServer } from "./api_server.ts";
import { EtcdState } from "./state.ts";

/** The variable that names the Unix socket of the pool. */
export const POOL = "MESH_TEST_CLUSTERS";

/** A message on the socket: the folder of the server, or the reason why none started. */
export interface Lent {
  readonly folder?: string;
  readonly error?: string;
}

/** A server as the pool sees it. */
export interface PoolServer {
  readonly folder: string;
  isAlive(): Promise<boolean>;
  /** Records the state. The returned function restores it. */
  record(): Promise<() => Promise<void>>;
  stop(): Promise<void>;
}

/** A slot for a server, which is started on first use. */
interface Slot {
  server?: PoolServer;
}

/** Attempts to start a server for a client: a port may be taken, and a busy machine may end a process. */
const ATTEMPTS = 3;

/**
 * Lends servers over a Unix socket. A client receives its server as a line of JSON, and has the server until the
 * connection ends. A killed test thus returns its server too.
 */
export class ClusterPool {
  readonly #listener: Deno.Listener;
  readonly #slots: readonly Slot[];
  readonly #idle: Slot[];
  readonly #waiting: ((slot: Slot) => void)[] = [];
  readonly #starting = new Set<Promise<PoolServer>>();

  /** Listens at a path; starts at most `size` servers. */
  constructor(readonly path: string, size: number, readonly start: () => Promise<PoolServer> = startServer) {
    this.#slots = Array.from({ length: size }, () => ({}));
    this.#idle = [...this.#slots];
    this.#listener = Deno.listen({ transport: "unix", path });
    this.#serve();
  }

  /** Ends all servers. */
  async stop(): Promise<void> {
    this.#listener.close();
    const starting = [...this.#starting].map((server) => server.then((started) => started.stop(), () => {}));
    await Promise.all([...starting, ...this.#slots.map(({ server }) => server?.stop())]);
  }

  async #serve(): Promise<void> {
    for await (const connection of this.#listener) this.#lend(connection);
  }

  async #lend(connection: Deno.Conn): Promise<void> {
    using _ = connection;
    const slot = this.#idle.pop() ?? await new Promise<Slot>((resolve) => this.#waiting.push(resolve));
    try {
      const { server, restore } = await this.#ready(slot);
      await reply(connection, { folder: server.folder });
      await connection.read(new Uint8Array(1)).catch(() => {});
      // The next test gets a new server.
      await restore().catch(() => this.#drop(slot));
    } catch (error) {
      await reply(connection, { error: String(error) });
    }
    const next = this.#waiting.shift();
    if (next === undefined) this.#idle.push(slot);
    else next(slot);
  }

  /** A server that answers: replaces a server that has died since its last test. */
  async #ready(slot: Slot): Promise<{ server: PoolServer; restore: () => Promise<void> }> {
    let problem: unknown = new Error("no API server stays alive");
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      try {
        const server = slot.server ??= await this.#started();
        if (await server.isAlive()) return { server, restore: await server.record() };
      } catch (error) {
        problem = error;
      }
      await this.#drop(slot);
    }
    throw problem;
  }

  async #started(): Promise<PoolServer> {
    const starting = this.start();
    this.#starting.add(starting);
    try {
      return await starting;
    } finally {
      this.#starting.delete(starting);
    }
  }

  async #drop(slot: Slot): Promise<void> {
    const { server } = slot;
    delete slot.server;
    await server?.stop().catch(() => {});
  }
}

async function startServer(): Promise<PoolServer> {
  const server = await ApiServer.start();
  return {
    folder: server.folder,
    isAlive: () => server.isAlive(),
    record: async () => {
      const state = await EtcdState.record(server.etcdUrl);
      return () => state.restore();
    },
    stop: () => server.stop(),
  };
}

/** Ignores errors, because the test may have ended. */
async function reply(connection: Deno.Conn, lent: Lent): Promise<void> {
  await connection.write(new TextEncoder().encode(`${JSON.stringify(lent)}\n`)).catch(() => {});
}
