/** Connections to a server by its name, in clear or over TLS, of which a failure says how far it came. */
import type { LookupAddress } from "node:dns";
import { messageOf } from "../../../errors.ts";
import { type ByteConnection, DialError, type DialOptions, type DialTls } from "../../byte_connection.ts";
import { systemAuthorities } from "./system_roots.ts";
import { closable } from "./closable.ts";
import { identityProblem } from "./key_pair.ts";
import { keepAlive } from "../../linux/keep_alive.ts";
import { tlsFailure } from "./tls_failure.ts";
import { unlessAborted } from "../../unless_aborted.ts";

/** An address that does not answer for so long is left for the next one, in milliseconds. */
const FOR_EACH_ADDRESS = 3000;

/** Connects; see `Network.dial`. */
export async function dial(options: DialOptions): Promise<ByteConnection> {
  const addresses = await addressesOf(options);
  for (const address of addresses.slice(0, -1)) {
    const patience = AbortSignal.timeout(FOR_EACH_ADDRESS);
    try {
      return await open(address, { ...options, signal: AbortSignal.any([options.signal, patience]) });
    } catch (error) {
      const isNext = error instanceof DialError && error.stage === "connection" && !options.signal.aborted;
      if (!isNext) throw error;
    }
  }
  return await open(addresses.at(-1) ?? options.host, options);
}

/** As getaddrinfo(3) has them and in its order, which is what other programs of the machine see. */
async function addressesOf({ host, port, signal }: DialOptions): Promise<readonly string[]> {
  const { lookup } = globalThis.process.getBuiltinModule("node:dns");
  const found = new Promise<LookupAddress[]>((resolve, reject) =>
    lookup(host, { all: true }, (error, addresses) => error === null ? resolve(addresses) : reject(error))
  );
  try {
    return (await unlessAborted(found, signal)).map(({ address }) => address);
  } catch (error) {
    const reason = signal.aborted ? "there was no answer in time" : nameFailure(error);
    throw new DialError("name", `Cannot find the address of "${host}", to connect to its port ${port}: ${reason}`, {
      cause: error,
      hint: "see whether the name is right, and whether the name servers of /etc/resolv.conf answer",
    });
  }
}

function nameFailure(error: unknown): string {
  return /ENOTFOUND/.test(messageOf(error)) ? "the name is not known" : messageOf(error);
}

async function open(address: string, options: DialOptions): Promise<ByteConnection> {
  return options.tls === undefined ? await openPlain(address, options) : await openTls(address, options, options.tls);
}

async function openPlain(hostname: string, options: DialOptions): Promise<ByteConnection> {
  const { port, signal } = options;
  try {
    const connection = await Deno.connect({ hostname, port, signal });
    keepAlive(connection);
    return closable(connection);
  } catch (error) {
    throw connectionError(hostname, options, error);
  }
}

async function openTls(hostname: string, options: DialOptions, tls: DialTls): Promise<ByteConnection> {
  const problem = tls.identity === undefined ? undefined : identityProblem(tls.identity);
  if (problem !== undefined) throw tlsError(options, `this side's certificate cannot be used: ${problem}`, undefined);
  const authorities = tls.authorities ?? await systemAuthorities();
  const connection = await connectTls(hostname, options, { ...tls, authorities });
  try {
    keepAlive(connection);
    await unlessAborted(connection.handshake(), options.signal);
    return explaining(closable(connection), (error) => tlsError(options, tlsFailure(error, tls), error));
  } catch (error) {
    connection.close();
    const reason = options.signal.aborted ? "there was no answer in time" : tlsFailure(error, tls);
    throw tlsError(options, reason, error);
  }
}

async function connectTls(hostname: string, options: DialOptions, tls: DialTls): Promise<Deno.TlsConn> {
  const connecting = Deno.connectTls(tlsOptions(hostname, options.port, tls));
  try {
    return await unlessAborted(connecting, options.signal);
  } catch (error) {
    connecting.then((late) => late.close(), () => {});
    if (options.signal.aborted || isOfSystem(error)) throw connectionError(hostname, options, error);
    throw tlsError(options, tlsFailure(error, tls), error);
  }
}

/** TLS 1.3 lets a server refuse the client's certificate when the handshake is over for the client. */
function explaining(connection: ByteConnection, explain: (error: unknown) => DialError): ByteConnection {
  return {
    ...connection,
    async read(buffer) {
      try {
        return await connection.read(buffer);
      } catch (error) {
        const message = messageOf(error);
        // A server that was killed says no goodbye; what was cut off is seen in what the bytes say.
        if (/without sending TLS close_notify/.test(message)) return null;
        throw /received fatal alert/.test(message) ? explain(error) : error;
      }
    },
  };
}

/** What the kernel said of the connection; anything else is about the certificates of the options. */
function isOfSystem(error: unknown): boolean {
  return /\(os error \d+\)$/.test(messageOf(error));
}

/**
 * Deno verifies the name that it connects to, unless another is told under a symbol, which it has for its own `node:tls`
 * alone: a proxy sees what it asks for. `node:tls` itself costs 30 ms of the first connection, and its streams copy all
 * bytes. In a Deno without the symbol the IP address would be verified, and no server be trusted: the tests tell.
 */
function tlsOptions(hostname: string, port: number, tls: DialTls): Deno.ConnectTlsOptions {
  const { authorities, identity, protocols, serverName } = tls;
  const options = {
    hostname,
    port,
    alpnProtocols: [...protocols],
    ...(authorities === undefined ? {} : { caCerts: [authorities] }),
    ...(identity === undefined ? {} : { cert: identity.certificate, key: identity.key }),
  };
  return new Proxy(options, {
    get: (target, key) => typeof key === "symbol" ? serverName : Reflect.get(target, key),
  });
}

function connectionError(address: string, { host, port, signal }: DialOptions, cause: unknown): DialError {
  const where = host === address ? "" : ` (${address})`;
  const reason = signal.aborted ? "there was no answer in time" : messageOf(cause).replace(/ \(os error \d+\)$/, "");
  const text = reason.charAt(0).toLowerCase() + reason.slice(1);
  return new DialError("connection", `Cannot connect to "${host}:${port}"${where}: ${text}`, { cause });
}

function tlsError({ host, port }: DialOptions, reason: string, cause: unknown): DialError {
  return new DialError("tls", `Cannot speak TLS with "${host}:${port}": ${reason}`, { cause });
}
