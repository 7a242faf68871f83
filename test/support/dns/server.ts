/** Runs the agent's DNS server in this process, for tests. */
import { getLogger } from "@logtape/logtape";
import { buildLookup } from "../../../src/agent/dns/server/lookup.ts";
import type { NameInfo } from "../../../src/agent/dns/table/name_table.ts";
import type { ServerOptions, Tuning } from "../../../src/agent/dns/options.ts";
import { startServer } from "../../../src/agent/dns/server/server.ts";
import { socketLibc } from "../../../src/platform/linux/sockets.ts";
import { realWorld, type World } from "../../../src/platform/mod.ts";
import { fakeWorld } from "../fake_world.ts";

// The library stays loaded. It is loaded here, so that it does not count as a leak in the first test.
if (Deno.build.os === "linux") socketLibc();

export const AROUND = { namespace: "ns1", domain: "ns1.svc.cluster.local" } as const;
export const RESOLV_CONF = "/etc/resolv.conf";

/** Options for a test's server. */
export interface TestServerOptions extends Partial<Pick<ServerOptions, "address" | "isParallel" | "upstreamTimeout">> {
  readonly resolvConf?: string;
  readonly tuning?: Partial<Tuning>;
  readonly table?: Readonly<Record<string, NameInfo>>;
  readonly uid?: number;
}

/** A world with the real network, and a resolv.conf in memory. */
export function dnsWorld(resolvConf: string, uid = 1337) {
  const world = fakeWorld({ files: { [RESOLV_CONF]: resolvConf }, uid });
  const real = realWorld();
  let skipped = 0;
  const clock = { ...real.clock, monotonic: () => real.clock.monotonic() + skipped };
  const mixed: World = { ...world, network: real.network, clock };
  return { ...world, ...mixed, skip: (milliseconds: number) => void (skipped += milliseconds) };
}

/** Starts a server on a free port. It uses a table only if the options contain one. */
export async function dnsServer(options: TestServerOptions = {}) {
  const world = dnsWorld(options.resolvConf ?? "nameserver 127.0.0.1\nsearch ns1.svc.cluster.local\n", options.uid);
  const server = await startServer(world, {
    ...AROUND,
    address: options.address ?? "localhost:0",
    isParallel: options.isParallel ?? false,
    upstreamTimeout: options.upstreamTimeout ?? 5000,
    log: getLogger(["test", "dns"]),
    tuning: options.tuning ?? {},
  });
  if (options.table !== undefined) server.use(buildLookup(Object.entries(options.table), AROUND));
  return { ...server, world, skip: world.skip, [Symbol.asyncDispose]: () => server.close() };
}

/** A host outside of Kubernetes, with these addresses. */
export function external(...ips: readonly string[]): NameInfo {
  return { ips, registry: "External", shortname: "", namespace: "", altHosts: [] };
}

/** A Kubernetes Service with these addresses. */
export function service(shortname: string, namespace: string, ...ips: readonly string[]): NameInfo {
  return { ips, registry: "Kubernetes", shortname, namespace, altHosts: [] };
}
