/** The first of three parts of a request: a TCP connection to a server, from its name or address. */
import type { LookupAddress } from "node:dns";
import { messageOf } from "../../../base/errors.ts";
import { parseAddress } from "../../../golang/net/mod.ts";
import { DialError, type DialOptions } from "../../connection.ts";
import { keepAlive } from "../../linux/socket_options.ts";
import { isRuntimeError, reasonOf } from "../../runtime_errors.ts";
import { unlessAborted } from "../../unless_aborted.ts";

/** The addresses of a server in the order of getaddrinfo(3), as other programs of the machine see them. Rejects with a `DialError`. */
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
      ? "the name is not known"
      : messageOf(error);
    throw new DialError("name", `Cannot find the address of "${host}", to connect to its port ${port}: ${reason}`, {
      cause: error,
      hint: "see whether the name is right, and whether the name servers of /etc/resolv.conf answer",
    });
  }
}

/** The reason when the signal ended an attempt. */
export const NO_ANSWER = "there was no answer in time";

/** A TCP connection that is kept alive and sends each write at once. Rejects with a `DialError`. */
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

/** The error of an attempt to connect to an address of a server. */
export function connectionError(address: string, { host, port, signal }: DialOptions, cause: unknown): DialError {
  const where = host === address ? "" : ` (${address})`;
  const reason = signal.aborted ? NO_ANSWER : reasonOf(cause);
  const text = reason.charAt(0).toLowerCase() + reason.slice(1);
  return new DialError("connection", `Cannot connect to "${host}:${port}"${where}: ${text}`, { cause });
}
