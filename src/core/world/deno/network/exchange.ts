/** HTTP requests on connections of their own. */
import { realFetch } from "./fetch.ts";
import { joinBytes } from "../../../bytes.ts";
import { clientOnItsOwn } from "./proxies.ts";
import type { Exchange, ExchangeAnswer } from "../../world.ts";

/** How to reach the server, in the words of Deno's client. */
type Way = Pick<Deno.CreateHttpClientOptions, "proxy" | "localAddress" | "http1" | "http2">;

/** Fields about the connection, which HTTP/2 forbids (RFC 9113 8.2.2); `host` is `:authority` there. */
const NOT_IN_HTTP2 = ["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade", "host"];

/** Asks; see `Network.exchange`. */
export async function exchange(request: Exchange): Promise<ExchangeAnswer> {
  if (new URL(request.url).protocol === "https:") return await overTls(request);
  const isHttp2 = request.protocol === "h2";
  const source = request.source === undefined ? {} : { localAddress: request.source };
  return await ask(request, request.url, { ...source, http1: !isHttp2, http2: isHttp2 });
}

/**
 * Deno's client has no way to leave a certificate unverified, and `node:tls` has no way to say where a connection comes
 * from: the request goes in clear to a socket of this machine, from which the TLS connection is fed.
 */
async function overTls(request: Exchange): Promise<ExchangeAnswer> {
  const { openTls } = await import("./tls_tunnel.ts");
  using tls = await openTls(request);
  try {
    return await (tls.isHttp2 ? askHttp2(request, tls.port) : askHttp1(request, tls.port));
  } catch (error) {
    throw tls.failure() ?? error;
  }
}

/** The server is named by the field `host`. */
async function askHttp1(request: Exchange, port: number): Promise<ExchangeAnswer> {
  const { host, pathname, search } = new URL(request.url);
  const headers = new Headers(request.headers);
  if (!headers.has("host")) headers.set("host", host);
  const url = `http://${LOOPBACK}:${port}${pathname}${search}`;
  return await ask({ ...request, headers }, url, { http1: true, http2: false });
}

/** The server is named by `:authority`, which is that of the URL: it is asked as through a proxy. */
async function askHttp2(request: Exchange, port: number): Promise<ExchangeAnswer> {
  const { host, pathname, search } = new URL(request.url);
  const url = `http://${request.headers.get("host") ?? host}${pathname}${search}`;
  return await ask(request, url, {
    proxy: { transport: "tcp", hostname: LOOPBACK, port },
    http1: false,
    http2: true,
  });
}

const LOOPBACK = "127.0.0.1";

async function ask(request: Exchange, url: string, way: Way): Promise<ExchangeAnswer> {
  const { method, body, signal, maxBodyBytes } = request;
  const headers = new Headers(request.headers);
  if (way.http2 === true) { for (const name of NOT_IN_HTTP2) headers.delete(name); }
  using client = clientOnItsOwn({ ...way, allowHost: true, poolMaxIdlePerHost: 0 });
  const init = { method, headers, signal, client, redirect: "manual" } as const;
  const response = await realFetch(url, body === undefined ? init : { ...init, body });
  return { status: response.status, headers: response.headers, body: await readAtMost(response, maxBodyBytes) };
}

/** A body that breaks off is what came of it: the status counts. */
async function readAtMost({ body }: Response, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  const reader = body?.getReader();
  try {
    while (reader !== undefined && size < maxBytes) {
      const { value, done } = await reader.read();
      if (done) break;
      pieces.push(value);
      size += value.length;
    }
    await reader?.cancel();
  } catch {
    // The connection broke or the time ran out.
  }
  return joinBytes(pieces).slice(0, maxBytes);
}
