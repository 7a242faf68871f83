/** The connection of a channel, which is opened on demand and reopened after a failure. */
import { splitHostPort } from "../../golang/net/mod.ts";
import type { HttpConnection, Network } from "../../platform/mod.ts";
import { CODE } from "./status.ts";
import { GrpcError, unreachable } from "./error.ts";

/** Timeout for name lookup, connection and TLS handshake, in milliseconds. */
const DIAL_TIMEOUT = 10_000;

export interface GrpcEndpoint {
  /** `host:port`. */
  readonly address: string;
  /** `undefined` means plain text. */
  readonly tls: GrpcTls | undefined;
}

/** TLS settings. Certificates and keys are PEM. */
export interface GrpcTls {
  /** The name that the server's certificate must contain. */
  readonly serverName: string;
  /** The only trusted roots; `undefined` means the system's roots. */
  readonly authorities: string | undefined;
  readonly identity?: { readonly certificate: string; readonly key: string } | undefined;
}

/** A connection that may have ended since it was opened. */
export interface Connected {
  readonly client: HttpConnection;
  isOpen: boolean;
  isLeft: boolean;
  calls: number;
}

export type Connections = ReturnType<typeof connectionsTo>;

/** Shares one connection among all calls to an endpoint. */
export function connectionsTo(network: Network, endpoint: GrpcEndpoint) {
  const end = new AbortController();
  const open = new Set<Connected>();
  let current: Promise<Connected> | undefined;
  async function connect(): Promise<Connected> {
    if (end.signal.aborted) {
      throw new GrpcError(CODE.Canceled, "connection", `The channel to "${endpoint.address}" has been closed`);
    }
    const connected = await dialed(network, endpoint, end.signal);
    if (end.signal.aborted) connected.client.close();
    open.add(connected);
    connected.client.ended.then(() => open.delete(connected));
    return connected;
  }
  /**
   * Returns a connection, which the caller must give back. Rejects with a `GrpcError` at the stage `name`, `connection`
   * or `tls`.
   */
  async function take(): Promise<Connected> {
    const now = current ??= connect();
    const connected = await now.catch((error) => unreachable(error));
    const isUsable = !(connected instanceof GrpcError) && connected.isOpen && !connected.isLeft;
    if (!isUsable && current === now) current = undefined;
    if (connected instanceof GrpcError) throw connected;
    if (!isUsable) return await take();
    connected.calls++;
    return connected;
  }
  return {
    take,
    giveBack(connected: Connected): void {
      connected.calls--;
      closeIfUnused(connected);
    },
    /** Stops using a connection for new calls, and closes it after the calls in flight. */
    leave(connected: Connected): void {
      connected.isLeft = true;
      closeIfUnused(connected);
    },
    close(): void {
      end.abort();
      for (const { client } of open) client.close();
    },
  };
}

function closeIfUnused({ isLeft, calls, client }: Connected): void {
  if (isLeft && calls === 0) client.close();
}

async function dialed(network: Network, endpoint: GrpcEndpoint, end: AbortSignal): Promise<Connected> {
  const { address, tls } = endpoint;
  const target = splitHostPort(address);
  if (typeof target === "string") {
    throw new GrpcError(CODE.InvalidArgument, "name", `The address is invalid: ${target}`);
  }
  const connection = await network.dial({
    host: target.host,
    port: Number(target.port),
    tls: tls === undefined ? undefined : { ...tls, protocols: ["h2"] },
    signal: AbortSignal.any([end, AbortSignal.timeout(DIAL_TIMEOUT)]),
  });
  const client = await network.http(connection, "h2");
  const connected: Connected = { client, isOpen: true, isLeft: false, calls: 0 };
  client.ended.then(() => connected.isOpen = false);
  return connected;
}
