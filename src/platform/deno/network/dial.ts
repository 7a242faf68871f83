import { type Dialed, DialError, type DialOptions } from "../../connection.ts";
import { addressesOf, connectTcp } from "./connect.ts";
import { closable } from "./connections.ts";
import { keyPairProblem } from "./key_pair.ts";
import { connectTls, tlsError } from "./tls.ts";

/** Milliseconds to wait for a connection to one address before the next address is tried. */
const FOR_EACH_ADDRESS = 3000;

/** Implements `Network.dial`. */
export async function dial(options: DialOptions): Promise<Dialed> {
  const problem = options.tls?.identity === undefined ? undefined : keyPairProblem(options.tls.identity);
  if (problem !== undefined) throw tlsError(options, `cannot use the client certificate: ${problem}`, undefined);
  const addresses = await addressesOf(options);
  for (const address of addresses.slice(0, -1)) {
    const timeout = AbortSignal.timeout(FOR_EACH_ADDRESS);
    try {
      return await open(address, { ...options, signal: AbortSignal.any([options.signal, timeout]) });
    } catch (error) {
      const isNext = error instanceof DialError && error.stage === "connection" && !options.signal.aborted;
      if (!isNext) throw error;
    }
  }
  return await open(addresses.at(-1) ?? options.host, options);
}

async function open(address: string, options: DialOptions): Promise<Dialed> {
  const { tls, source } = options;
  if (tls?.insecure === true) {
    return await (await import("./insecure_tls.ts")).connectInsecureTls(address, options, tls);
  }
  if (tls !== undefined) return await connectTls(address, options, tls);
  if (source === undefined) return closable(await connectTcp(address, options));
  const { connectFrom } = await import("./connect_from.ts");
  return await connectFrom(address, options);
}
