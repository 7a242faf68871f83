/** HTTP requests on connections of their own. */
import { realFetch } from "./real_fetch.ts";
import { joinBytes } from "../bytes.ts";
import { clientOnItsOwn } from "./real_proxy.ts";
import type { Exchange, ExchangeAnswer } from "./world.ts";

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
  const { openTls } = await import("./real_tls.ts");
  using tls = await openTls(request);
  const url = new URL(request.url);
  const host = request.headers.get("host") ?? url.host;
  const inClear = `http://${host}${url.pathname}${url.search}`;
  const proxy: Deno.Proxy = { transport: "tcp", hostname: "127.0.0.1", port: tls.port };
  try {
    return await ask(request, inClear, { proxy, http1: !tls.isHttp2, http2: tls.isHttp2 });
  } catch (error) {
    throw tls.failure() ?? error;
  }
}

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
