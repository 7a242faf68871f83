/**
 * The DNS server of a sidecar. Answers questions about mesh hosts from istiod's name table, and forwards all other
 * questions to the name servers in resolv.conf.
 */
import type { World } from "../../platform/world.ts";
import { buildLookup } from "./server/lookup.ts";
import { decodeNameTable, nameTableJson } from "./table/name_table.ts";
import { type DnsOptions, TUNING } from "./options.ts";
import { startServer } from "./server/server.ts";
import { TableStream } from "./table/stream.ts";

/** A running DNS server. */
export type Dns = Awaited<ReturnType<typeof startDns>>;

/** Starts the server and the xDS stream. Rejects with a MeshError if no address can be bound. */
export async function startDns(world: World, options: DnsOptions) {
  const server = await startServer(world, options);
  const stream = new TableStream(world, {
    ...options.table,
    log: options.log,
    random: options.tuning?.random ?? TUNING.random,
    changed(table) {
      const lookup = buildLookup(table, options);
      server.use(lookup);
      options.log.debug(`The name table has ${lookup.size} names`);
    },
  });
  return {
    port: server.port,
    /** Whether a name table has arrived. Until then, questions about names get SERVFAIL. */
    isReady: () => stream.table !== undefined,
    problem: () => stream.problem,
    /** Returns the current table for `/debug/ndsz`; `undefined` until a table arrives. */
    tableJson: () => stream.table && nameTableJson(decodeNameTable(stream.table)),
    retry: () => stream.retry(),
    collect: server.collect,
    async close(): Promise<void> {
      await stream.close();
      await server.close();
    },
  };
}
