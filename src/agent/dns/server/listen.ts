/** The sockets of the DNS server: UDP and TCP on each address. */
import { MeshError, messageOf } from "../../../base/errors.ts";
import { type Logger, logText } from "../../../platform/log.ts";
import { parseUint, splitHostPort } from "../../../golang/net/mod.ts";
import type { DatagramSocket, Network, TcpHandler, TcpListener } from "../../../platform/mod.ts";
import type { Upstream } from "../upstream/resolv_conf.ts";

/**
 * Returns the addresses to listen on. `localhost` means 127.0.0.1, ::1 or both, in the address families of the name
 * servers in resolv.conf: traffic capture redirects a question to the loopback address of the same family. Throws a
 * MeshError for an invalid `host:port`.
 */
export function listenPlan(address: string, servers: readonly Upstream[]) {
  const parts = splitHostPort(address);
  const port = typeof parts === "string" ? parts : parseUint(parts.port, 16);
  if (typeof parts === "string" || typeof port === "string") {
    throw new MeshError(`"DNS_PROXY_ADDR" is "${address}": ${port}`, {
      hint: 'give "localhost:15053" or another host:port',
    });
  }
  if (parts.host === "") return { hosts: ["0.0.0.0"], port };
  if (parts.host !== "localhost") return { hosts: [parts.host], port };
  const families = new Set(servers.map((server) => server.address.family));
  const hosts = [...families.has(4) || families.size === 0 ? ["127.0.0.1"] : [], ...families.has(6) ? ["::1"] : []];
  return { hosts, port };
}

export interface Listening {
  readonly host: string;
  readonly udp: DatagramSocket;
  readonly tcp: TcpListener;
}

/** Listens on all addresses. Logs each address that fails; rejects with a MeshError if all fail. */
export async function listenAll(
  network: Network,
  plan: ReturnType<typeof listenPlan>,
  take: TcpHandler,
  log: Logger,
): Promise<Listening[]> {
  const failures: unknown[] = [];
  const listening: Listening[] = [];
  for (const host of plan.hosts) {
    try {
      listening.push(await listenBoth(network, host, plan.port, take));
    } catch (error) {
      failures.push(error);
    }
  }
  if (listening.length === 0) throw failures[0];
  for (const failure of failures) log.warning(logText(messageOf(failure)));
  return listening;
}

async function listenBoth(network: Network, hostname: string, port: number, take: TcpHandler): Promise<Listening> {
  const tcp = await network.listenTcp({ hostname, port }, take);
  try {
    return { host: hostname, tcp, udp: await network.bindDatagram({ hostname, port: tcp.port }) };
  } catch (error) {
    await tcp.close();
    throw error;
  }
}

const ANY: readonly string[] = ["0.0.0.0", "::"];

/** Whether a name server is this server itself, so that forwarding would loop. */
export function isOwnAddress(network: Network, listening: readonly Listening[], { host, port }: Upstream): boolean {
  return listening.some((own) => {
    if (own.tcp.port !== port) return false;
    return own.host === host ||
      (ANY.includes(own.host) && network.interfaces().some(({ address }) => address === host));
  });
}
