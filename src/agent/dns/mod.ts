/**
 * The DNS server of a sidecar. Answers questions about mesh hosts from istiod's name table, and forwards all other
 * questions to the machine's name servers.
 */
import type { World } from "../../platform/world.ts";
import { buildLookup } from "./server/lookup.ts";
import { nameTableJson } from "./table/name_table.ts";
import { type DnsOptions, TUNING } from "./options.ts";
import { startServer } from "./server/server.ts";
import { tableOf, type TableState, TableStream } from "./table/stream.ts";

/** A running DNS server. */
export type Dns = Awaited<ReturnType<typeof startDns>>;

/** Starts the server and the xDS stream. Rejects with a MeshError if no address can be bound. */
export async function startDns(world: World, options: DnsOptions) {
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
    /** Whether a name table has arrived. Until then, questions about names get SERVFAIL. */
    isReady: () => state !== undefined,
    problem: () => stream.problem,
    /** Returns the current table for `/debug/ndsz`; `undefined` until a table arrives. */
    tableJson: () => state === undefined ? undefined : nameTableJson(tableOf(state)),
    retry: () => stream.retry(),
    collect: server.collect,
    async close(): Promise<void> {
      await stream.close();
      await server.close();
    },
  };
}
