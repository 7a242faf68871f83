/**
 * The DNS server of a sidecar. In: questions (captured, or sent to its port), and the name table of istiod. Out:
 * addresses of mesh hosts; other questions are forwarded to the machine's name servers.
 */
import type { Collector } from "../../base/metrics/mod.ts";
import type { World } from "../../platform/world.ts";
import { buildLookup } from "./server/lookup.ts";
import { nameTableJson } from "./table/name_table.ts";
import { type DnsOptions, TUNING } from "./options.ts";
import { startServer } from "./server/server.ts";
import { tableOf, type TableState, TableStream } from "./table/stream.ts";

/** A running DNS server. */
export interface Dns {
  readonly port: number;
  /** Whether a name table has arrived; until then names get SERVFAIL. */
  isReady(): boolean;
  /** Why the table is missing or may be stale, in one line; `undefined` if neither. */
  problem(): string | undefined;
  /** The table in force as JSON, for `/debug/ndsz`; `undefined` before the first. */
  tableJson(): string | undefined;
  /** Asks for the table at once if the next attempt is still to come: the control plane is there again. */
  retry(): void;
  /** Metrics, with pilot-agent's names. */
  readonly collect: Collector;
  close(): Promise<void>;
}

/** Starts the server and the stream. Rejects with a MeshError if no address can be bound. */
export async function startDns(world: World, options: DnsOptions): Promise<Dns> {
  const server = await startServer(world, options);
  let state: TableState | undefined;
  const stream = new TableStream(world, {
    ...options.table,
    log: options.log,
    random: options.tuning?.random ?? TUNING.random,
    changed(next) {
      state = next;
      const lookup = buildLookup(tableOf(next), options);
      server.use(lookup);
      options.log.debug(`The name table has ${lookup.size} names`);
    },
  });
  return {
    port: server.port,
    isReady: () => state !== undefined,
    problem: () => stream.problem,
    tableJson: () => state === undefined ? undefined : nameTableJson(tableOf(state)),
    retry: () => stream.retry(),
    collect: server.collect,
    async close() {
      await stream.close();
      await server.close();
    },
  };
}
