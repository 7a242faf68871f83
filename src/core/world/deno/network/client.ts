/** Clients with an identity and a trust of their own. */
import { realFetch } from "./fetch.ts";
import { MeshError, messageOf } from "../../../errors.ts";
import { openBridge, type TlsBridge } from "./tls_bridge.ts";
import { identityProblem } from "./key_pair.ts";
import { clientOnItsOwn, clientPast } from "./proxies.ts";
import type { ClientOptions, HttpClient } from "../../http_client.ts";

/** This machine is never reached through a proxy of the environment. */
const LOOPBACK = ["localhost", "127.0.0.0/8", "::1"];

/** A dead connection of HTTP/2 would be used again for every request; one of HTTP/1.1 is left with the request. */
const PROTOCOL = { http1: true, http2: false } as const;

/**
 * A client for one server. Deno's own client can neither skip the verification of the server's certificate nor expect
 * another name in it: there a bridge speaks TLS.
 * Errors: a MeshError for certificates or a key that cannot be used.
 */
export async function openClient(options: ClientOptions): Promise<HttpClient> {
  const problem = options.identity === undefined ? undefined : identityProblem(options.identity);
  if (problem !== undefined) throw unusable(options, problem);
  const isHttps = options.server.startsWith("https:");
  if (isHttps && (options.insecure === true || options.serverName !== undefined)) return await overBridge(options);
  const client = made(options, () => plainClient(options));
  return {
    request: (path, init) => realFetch(`${options.server}${path}`, { ...init, client }),
    close: () => client.close(),
  };
}

function plainClient({ authorities, identity, proxy }: ClientOptions): Deno.HttpClient {
  const tls: Deno.CreateHttpClientOptions & Partial<Deno.TlsCertifiedKeyPem> = {
    ...PROTOCOL,
    ...(authorities === undefined ? {} : { caCerts: [authorities] }),
    ...(identity === undefined ? {} : { cert: identity.certificate, key: identity.key }),
  };
  if (proxy === undefined) return clientPast(LOOPBACK, tls) ?? Deno.createHttpClient(tls);
  return clientOnItsOwn({ ...tls, proxy: proxyOptions(proxy) });
}

function proxyOptions(proxy: string): Deno.Proxy {
  const url = new URL(proxy);
  const [username, password] = [decodeURIComponent(url.username), decodeURIComponent(url.password)];
  url.username = url.password = "";
  return { url: url.href, ...(username === "" ? {} : { basicAuth: { username, password } }) };
}

async function overBridge(options: ClientOptions): Promise<HttpClient> {
  if (options.proxy !== undefined) {
    throw new MeshError(
      `The server "${options.server}" cannot be reached through a proxy without verification, or by another name`,
      { hint: "leave out proxy-url, or insecure-skip-tls-verify and tls-server-name" },
    );
  }
  const bridge = await openBridge(options);
  const client = clientOnItsOwn({ ...PROTOCOL, proxy: { transport: "unix", path: bridge.path } });
  const server = options.server.replace(/^https:/, "http:");
  return {
    request: (path, init) => explained(bridge, () => realFetch(`${server}${path}`, { ...init, client })),
    close() {
      client.close();
      bridge.close();
    },
  };
}

/** What became of TLS says more than that the bridge hung up. */
async function explained(bridge: TlsBridge, send: () => Promise<Response>): Promise<Response> {
  try {
    return await send();
  } catch (error) {
    const failure = bridge.failure();
    const hungUp = error instanceof TypeError && failure !== undefined;
    throw hungUp ? new TypeError(messageOf(failure), { cause: failure }) : error;
  }
}

function made<T>(options: ClientOptions, make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw unusable(options, messageOf(error), error);
  }
}

function unusable({ server }: ClientOptions, reason: string, cause?: unknown): MeshError {
  return new MeshError(`The certificates for "${server}" cannot be used: ${reason}`, { cause });
}
