import { MeshError, UsageError } from "../../base/errors.ts";
import { parseAddress, parseUint } from "../../golang/net/mod.ts";

export interface ListenAddress {
  /** Candidate IP addresses. The server uses the first one that it can bind. */
  readonly hostnames: readonly string[];
  readonly port: number;
}

/** `::` accepts IPv4 and IPv6. `0.0.0.0` is the fallback for a kernel without IPv6. */
const ALL_INTERFACES = ["::", "0.0.0.0"];

/**
 * Parses an address such as `:15017`, `0.0.0.0:15017` or `[::1]:15017`, as Go's net.Listen does. Throws a UsageError
 * that names the flag.
 */
export function listenAddress(flag: string, text: string): ListenAddress {
  const [, bracketed, plain = "", digits = ""] = /^(?:\[([^\]]*)\]|([^:]*)):(\d+)$/.exec(text) ?? [];
  const host = bracketed ?? (plain === "localhost" ? "127.0.0.1" : plain);
  const port = parseUint(digits, 16);
  const isHost = (host === "" && bracketed === undefined) || isAddress(host, bracketed === undefined ? 4 : 6);
  if (typeof port === "number" && isHost) return { hostnames: host === "" ? ALL_INTERFACES : [host], port };
  throw new UsageError(`The flag --${flag} cannot be "${text}"`, {
    hint: 'it takes an address and a port such as ":15017", "127.0.0.1:15017" or "[::1]:15017"',
  });
}

function isAddress(text: string, family: 4 | 6): boolean {
  const address = parseAddress(text);
  return typeof address !== "string" && address.family === family && address.zone === "";
}

/** Listens on the first address that can be bound. Rejects with the `MeshError` of the last address. */
export async function onFirst<T>({ hostnames }: ListenAddress, listen: (hostname: string) => Promise<T>): Promise<T> {
  let last: unknown = new MeshError("No address to listen on");
  for (const hostname of hostnames) {
    try {
      return await listen(hostname);
    } catch (error) {
      last = error;
    }
  }
  throw last;
}
