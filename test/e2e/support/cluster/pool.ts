/** API servers that the tests of a run share. A test file uses one alone, and finds it like new. */
import { ApiServer } from "./api_server.ts";
import { EtcdState } from "./state.ts";

/** The variable that names the Unix socket of the pool. */
export const POOL = "MESH_TEST_CLUSTERS";

/** A message of the socket: the folder of the server, or why none started. */
export interface Lent {
  readonly folder?: string;
  readonly error?: string;
}

/** A place for a server, which is started when it is first needed. */
interface Slot {
  server?: Promise<ApiServer>;
}

/**
 * Lends servers over a Unix socket. A client that connects gets one, as a line of JSON, and has it until the connection
 * ends. So a killed test returns its server too.
 */
export class ClusterPool {
  readonly #listener: Deno.Listener;
  readonly #slots: readonly Slot[];
  readonly #idle: Slot[];
  readonly #waiting: ((slot: Slot) => void)[] = [];

  /** Listens at a path; starts at most `size` servers. */
  constructor(readonly path: string, size: number) {
    this.#slots = Array.from({ length: size }, () => ({}));
    this.#idle = [...this.#slots];
    this.#listener = Deno.listen({ transport: "unix", path });
    this.#serve();
  }

  /** Ends all servers. */
  async stop(): Promise<void> {
    this.#listener.close();
    await Promise.all(this.#slots.map(async ({ server }) => (await server?.catch(() => undefined))?.stop()));
  }

  async #serve(): Promise<void> {
    for await (const connection of this.#listener) this.#lend(connection);
  }

  async #lend(connection: Deno.Conn): Promise<void> {
    using _ = connection;
    const slot = this.#idle.pop() ?? await new Promise<Slot>((resolve) => this.#waiting.push(resolve));
    try {
      const server = await (slot.server ??= ApiServer.start());
      await server.revive();
      const state = await EtcdState.record(server.etcdUrl);
      await tell(connection, { folder: server.folder });
      await connection.read(new Uint8Array(1)).catch(() => {});
      await state.restore();
    } catch (error) {
      // The next test gets a new server.
      const broken = slot.server;
      delete slot.server;
      await broken?.then((server) => server.stop()).catch(() => {});
      await tell(connection, { error: String(error) });
    }
    const next = this.#waiting.shift();
    if (next === undefined) this.#idle.push(slot);
    else next(slot);
  }
}

/** The test may be gone. */
async function tell(connection: Deno.Conn, lent: Lent): Promise<void> {
  await connection.write(new TextEncoder().encode(`${JSON.stringify(lent)}\n`)).catch(() => {});
}
