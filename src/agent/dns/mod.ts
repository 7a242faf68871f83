/**
 * The DNS server of a sidecar. In: questions of the application, captured or sent to its port; the name table that the control
 * plane sends on a stream of this part. Out: addresses of the mesh's hosts; everything else is asked of the machine's servers.
 */
import type { Collector } from "../../core/metrics/mod.ts";
import type { World } from "../../core/world/world.ts";
import { buildLookup } from "./server/lookup.ts";
import type { NameTable } from "./table/name_table.ts";
import { type DnsOptions, TUNING } from "./options.ts";
import { startServer } from "./server/server.ts";
import { followTable, tableOf, type TableState } from "./table/stream.ts";

export { type NameInfo, type NameTable, nameTableJson } from "./table/name_table.ts";
export type { DnsOptions, DnsSettings, TableNode, TableOptions } from "./options.ts";

/** DNS that runs. */
export interface Dns {
  readonly port: number;
  /** Whether a name table has come; before that names get SERVFAIL. */
  isReady(): boolean;
  /** Why the table is missing or old; one line. `undefined` when all is well. */
  problem(): string | undefined;
  /** The table in force, for `/debug/ndsz` (`nameTableJson`); `undefined` before the first. */
  table(): NameTable | undefined;
  /** Metrics, with pilot-agent's names. */
  readonly collect: Collector;
  close(): Promise<void>;
}

/** Serves, and follows the control plane. Rejects with a MeshError for an address that cannot be had. */
export async function startDns(world: World, options: DnsOptions): Promise<Dns> {
  const server = await startServer(world, options);
  let state: TableState | undefined;
  const stream = followTable(world, {
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
    problem: () => stream.problem(),
    table: () => state === undefined ? undefined : tableOf(state),
    collect: server.collect,
    async close() {
      await stream.close();
      await server.close();
    },
  };
}
