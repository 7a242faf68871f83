/** Step 1 of 3 of a request: the TCP connection to a server by host name or IP address. */
import type { LookupAddress } from "node:dns";
import { messageOf } from "../../../base/errors.ts";
import { parseAddress } from "../../../golang/net/mod.ts";
import { DialError, type DialOptions } from "../../connection.ts";
import { keepAlive } from "../../linux/socket_options.ts";
import { isRuntimeError, reasonOf } from "../../runtime_errors.ts";
import { unlessAborted } from "../../unless_aborted.ts";

/**
 * Returns the addresses of a server in the order of getaddrinfo(3), so that this program tries the addresses in the
 * same order as other programs. Rejects with a `DialError`.
 */
export async function addressesOf({ host, port, source, signal }: DialOptions): Promise<readonly string[]> {
  const found = typeof parseAddress(host) === "string" ? await lookUp(host, port, signal) : [host];
  return source === undefined ? found : found.filter((address) => address.includes(":") === source.includes(":"));
}

async function lookUp(host: string, port: number, signal: AbortSignal): Promise<readonly string[]> {
  const { lookup } = globalThis.process.getBuiltinModule("node:dns");
  const found = new Promise<LookupAddress[]>((resolve, reject) =>
    lookup(host, { all: true }, (error, addresses) => error === null ? resolve(addresses) : reject(error))
  );
  try {
    return (await unlessAborted(found, signal)).map(({ address }) => address);
  } catch (error) {
    const reason = signal.aborted
      ? NO_ANSWER
      : isRuntimeError(error, "unknownName")
      ? "unknown host name"
      : messageOf(error);
    throw new DialError("name", `Cannot find the address of "${host}" to connect to port ${port}: ${reason}`, {
      cause: error,
      hint: "check the host name and the name servers in /etc/resolv.conf",
    });
  }
}

/** The reason in the error after the signal aborted an attempt. */
export const NO_ANSWER = "timed out without an answer";

/** Opens a TCP connection with keepalive and without Nagle's delay (TCP_NODELAY). Rejects with a `DialError`. */
export async function connectTcp(hostname: string, options: DialOptions): Promise<Deno.TcpConn> {
  const { port, signal } = options;
  try {
    const connection = await Deno.connect({ hostname, port, signal });
    keepAlive(connection);
    return connection;
  } catch (error) {
    throw connectionError(hostname, options, error);
  }
}

/** Returns the error for a failed connection to one address of a server. */
export function connectionError(address: string, { host, port, signal }: DialOptions, cause: unknown): DialError {
  const where = host === address ? "" : ` (${address})`;
  const reason = signal.aborted ? NO_ANSWER : reasonOf(cause);
  const text = reason.charAt(0).toLowerCase() + reason.slice(1);
  return new DialError("connection", `Cannot connect to "${host}:${port}"${where}: ${text}`, { cause });
}
