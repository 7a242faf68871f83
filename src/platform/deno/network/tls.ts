/** Step 2 of 3 of a request: TLS with verification of the server's certificate. */
import { type ByteConnection, type Dialed, DialError, type DialOptions, type DialTls } from "../../connection.ts";
import { keepAlive } from "../../linux/socket_options.ts";
import { isRuntimeError } from "../../runtime_errors.ts";
import { tlsReason } from "../../tls_errors.ts";
import { unlessAborted } from "../../unless_aborted.ts";
import { connectionError, NO_ANSWER } from "./connect.ts";
import { closable } from "./connections.ts";
import { emptyDefaultStore, systemRoots } from "./trust.ts";

/** Connects to an address of a server and does the TLS handshake. Rejects with a `DialError`. */
export async function connectTls(hostname: string, options: DialOptions, tls: DialTls): Promise<Dialed> {
  const authorities = tls.authorities ?? systemRoots();
  const connection = await connect(hostname, options, { ...tls, authorities });
  try {
    keepAlive(connection);
    const { alpnProtocol } = await unlessAborted(connection.handshake(), options.signal);
    return { ...explained(closable(connection), options, tls), protocol: alpnProtocol ?? undefined };
  } catch (error) {
    connection.close();
    throw tlsError(options, options.signal.aborted ? NO_ANSWER : tlsReason(error, tls), error);
  }
}

async function connect(hostname: string, options: DialOptions, tls: DialTls): Promise<Deno.TlsConn> {
  emptyDefaultStore();
  const connecting = Deno.connectTls(tlsOptions(hostname, options.port, tls));
  try {
    return await unlessAborted(connecting, options.signal);
  } catch (error) {
    connecting.then((late) => late.close(), () => {});
    // Any error other than a fired signal or a kernel error comes from the certificates in the options.
    const isOfConnection = options.signal.aborted || isRuntimeError(error, "ofKernel");
    throw isOfConnection ? connectionError(hostname, options, error) : tlsError(options, tlsReason(error, tls), error);
  }
}

/**
 * Returns options that make Deno verify `serverName` in the certificate instead of `hostname`, which is an IP address.
 * Deno reads such a name only from a private symbol of its `node:tls`. The `Proxy` object returns the name for every
 * symbol. `node:tls` itself is not used, because it adds 30 ms to the first connection and copies all bytes. If a
 * future Deno drops the symbol, the IP address is verified and every server is rejected, which a test detects.
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

/**
 * Explains TLS errors after the handshake: in TLS 1.3 a server refuses the client's certificate after the client's handshake
 * is complete.
 */
export function explained(connection: ByteConnection, options: DialOptions, tls: DialTls): ByteConnection {
  return {
    ...connection,
    async read(buffer) {
      try {
        return await connection.read(buffer);
      } catch (error) {
        // HTTP detects a truncated message itself.
        if (isRuntimeError(error, "cutOff")) return null;
        throw isRuntimeError(error, "alert") ? tlsError(options, tlsReason(error, tls), error) : error;
      }
    },
  };
}

/** Returns the error for a failed TLS handshake. */
export function tlsError({ host, port }: DialOptions, reason: string, cause: unknown): DialError {
  return new DialError("tls", `Cannot speak TLS with "${host}:${port}": ${reason}`, { cause });
}
