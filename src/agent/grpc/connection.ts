/** Connects to a gRPC server. */
import { splitHostPort } from "../../golang/net/mod.ts";
import { type ByteConnection, DialError, type DialTls, type Network } from "../../platform/mod.ts";

/** Timeout for name lookup, connection and TLS handshake, in milliseconds. */
const DIAL_TIMEOUT = 10_000;

export interface GrpcEndpoint {
  /** `host:port`. */
  readonly address: string;
  /** `undefined` means plain text. */
  readonly tls: Pick<DialTls, "serverName" | "authorities" | "identity"> | undefined;
}

/** Connects to a server that speaks HTTP/2. Rejects with a `DialError`. */
export async function dialEndpoint(
  network: Network,
  { address, tls }: GrpcEndpoint,
  signal: AbortSignal,
): Promise<ByteConnection> {
  const target = splitHostPort(address);
  if (typeof target === "string") throw new DialError("name", `The address is invalid: ${target}`);
  return await network.dial({
    host: target.host,
    port: Number(target.port),
    tls: tls && { ...tls, protocols: ["h2"] },
    signal: AbortSignal.any([signal, AbortSignal.timeout(DIAL_TIMEOUT)]),
  });
}
