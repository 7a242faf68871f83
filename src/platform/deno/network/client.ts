/** Clients of one server, with their own trusted roots and key pair. */
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
 * HTTP/1.1 only: every request would use the same dead HTTP/2 connection; a dead HTTP/1.1 connection fails one request.
 */
const PROTOCOL = { http1: true, http2: false } as const;

/**
 * A client of one server. Deno's own client can neither skip the verification of the server's certificate nor expect
 * another name in it: such requests use this program's own connections. Errors: a MeshError for certificates or a key
 * that cannot be used.
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
 * Requests over this program's own connections: a connection takes the next request after the answer to the last one.
 */
function overConnections(options: ClientOptions): HttpClient {
  if (options.proxy !== undefined) {
    throw new MeshError(
      `The server "${options.server}" cannot be reached through a proxy without verification, or by another name`,
      { hint: "leave out proxy-url, or insecure-skip-tls-verify and tls-server-name" },
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
  /** Opens a new connection, which no other request gets. */
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
 * Rethrows unless the request was not sent because the connection is busy or closed: another connection can take it.
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

/** `fetch` rejects with a TypeError that has the runtime's reason. */
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
