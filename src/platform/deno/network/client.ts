/** HTTP clients with custom trusted roots and a client key pair. */
import { MeshError, messageOf } from "../../../base/errors.ts";
import type { ClientOptions, Dialed, HttpClient, WebSocketConnection, WebSocketRequest } from "../../world.ts";
import { DialError } from "../../connection.ts";
import { isRuntimeError } from "../../runtime_errors.ts";
import { dial } from "./dial.ts";
import { realFetch } from "./fetch.ts";
import { httpOver, type OwnHttpConnection } from "./http.ts";
import { keyPairProblem } from "./key_pair.ts";
import { clientOnItsOwn, proxiedClient } from "./proxies.ts";
import { systemRoots } from "./trust.ts";
import { openWebSocket } from "./web_socket.ts";

/**
 * HTTP/1.1 only: a dead HTTP/1.1 connection fails one request, but a dead HTTP/2 connection would fail all requests.
 */
const PROTOCOL = { http1: true, http2: false } as const;

/**
 * Opens a client for one server. Deno's own client always verifies the server's certificate, and expects the URL's host
 * in it. A client with the option `insecure` or `serverName` therefore uses this program's own connections. Throws a
 * MeshError if the certificates or the key cannot be used.
 */
export function openClient(options: ClientOptions): HttpClient {
  const problem = options.identity === undefined ? undefined : keyPairProblem(options.identity);
  if (problem !== undefined) throw unusable(options, problem);
  if (isHttps(options.server) && (options.insecure === true || options.serverName !== undefined)) {
    return overConnections(options);
  }
  const client = made(options, () => plainClient(options));
  return {
    request: (path, init) => realFetch(`${options.server}${path}`, { ...init, client }),
    webSocket: (path, request) => openWebSocket(`${options.server.replace(/^http/, "ws")}${path}`, request, client),
    close: () => client.close(),
  };
}

function plainClient({ server, authorities, identity, proxy }: ClientOptions): Deno.HttpClient {
  const tls: Deno.CreateHttpClientOptions & Partial<Deno.TlsCertifiedKeyPem> = {
    ...PROTOCOL,
    ...(isHttps(server) || isHttps(proxy ?? "") ? { caCerts: [authorities ?? systemRoots()] } : {}),
    ...(identity === undefined ? {} : { cert: identity.certificate, key: identity.key }),
  };
  if (proxy === undefined) return proxiedClient(tls);
  return clientOnItsOwn({ ...tls, proxy: proxyOptions(proxy) });
}

function isHttps(url: string): boolean {
  return url.startsWith("https:");
}

function proxyOptions(proxy: string): Deno.Proxy {
  const url = new URL(proxy);
  const [username, password] = [decodeURIComponent(url.username), decodeURIComponent(url.password)];
  url.username = url.password = "";
  return { url: url.href, ...(username === "" ? {} : { basicAuth: { username, password } }) };
}

/**
 * Returns a client over this program's own connections. Each connection carries one request at a time.
 */
function overConnections(options: ClientOptions): HttpClient {
  if (options.proxy !== undefined) {
    throw new MeshError(
      `Cannot connect to the server "${options.server}": a proxy excludes insecure-skip-tls-verify and tls-server-name`,
      { hint: "remove proxy-url, or remove insecure-skip-tls-verify and tls-server-name" },
    );
  }
  const end = new AbortController();
  const open = new Set<OwnHttpConnection>();
  const { host } = new URL(options.server);
  async function connect(signal: AbortSignal): Promise<OwnHttpConnection> {
    const connection = httpOver(await connected(options, AbortSignal.any([signal, end.signal])), "http/1.1");
    open.add(connection);
    connection.ended.then(() => open.delete(connection));
    return connection;
  }
  async function request(path: string, init: RequestInit): Promise<Response> {
    for (const connection of open) {
      const answer = await connection.request(host, path, init).catch((error) => ifUnsent(connection, error));
      if (answer !== undefined) return answer;
    }
    const connection = await connect(init.signal ?? end.signal);
    return await connection.request(host, path, init).catch(async (error) => {
      throw asOfFetch(await connection.why(error));
    });
  }
  /** Opens a WebSocket over a new connection of its own. */
  async function webSocket(path: string, wanted: WebSocketRequest): Promise<WebSocketConnection> {
    const signal = AbortSignal.any([wanted.signal, end.signal]);
    const connection = httpOver(await connected(options, signal), "http/1.1");
    try {
      const opened = await connection.webSocket(host, path, { ...wanted, signal });
      return { ...opened, close: () => (opened.close(), connection.close()) };
    } catch (error) {
      connection.close();
      throw asOfFetch(await connection.why(error));
    }
  }
  return {
    request,
    webSocket,
    close() {
      end.abort();
      for (const connection of open) connection.close();
    },
  };
}

/**
 * Ignores the error of a request that was not sent because the connection is busy or closed; the caller retries the
 * request on another connection.
 */
async function ifUnsent(connection: OwnHttpConnection, error: unknown): Promise<undefined> {
  if (!isRuntimeError(error, "unsent")) throw asOfFetch(await connection.why(error));
}

async function connected(options: ClientOptions, signal: AbortSignal): Promise<Dialed> {
  const { hostname, port } = new URL(options.server);
  const host = hostname.replace(/^\[|\]$/g, "");
  const { authorities, identity, insecure } = options;
  const tls = { serverName: options.serverName ?? host, authorities, identity, insecure, protocols: ["http/1.1"] };
  try {
    return await dial({ host, port: port === "" ? 443 : Number(port), tls, signal });
  } catch (error) {
    signal.throwIfAborted();
    throw asOfFetch(error);
  }
}

/** Converts an error to the form that `fetch` rejects with: a TypeError with the runtime's reason. */
function asOfFetch(error: unknown): unknown {
  return error instanceof DialError ? new TypeError(messageOf(error.cause ?? error), { cause: error }) : error;
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
