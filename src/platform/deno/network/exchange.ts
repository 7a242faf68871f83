/** HTTP requests that each open their own connection. */
import { joinBytes } from "../../../base/bytes.ts";
import type { Exchange, ExchangeAnswer } from "../../world.ts";
import { dial } from "./dial.ts";
import { realFetch } from "./fetch.ts";
import { httpOver } from "./http.ts";
import { clientOnItsOwn } from "./proxies.ts";

/** Header fields that HTTP/2 forbids (RFC 9113 8.2.2). HTTP/2 sends `host` as `:authority`. */
const NOT_IN_HTTP2 = ["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade", "host"];

/** Implements `Network.exchange`. */
export async function exchange(request: Exchange): Promise<ExchangeAnswer> {
  const url = new URL(request.url);
  return url.protocol === "https:" ? await overTls(request, url) : await inClear(request);
}

async function inClear(request: Exchange): Promise<ExchangeAnswer> {
  const isHttp2 = request.protocol === "h2";
  const source = request.source === undefined ? {} : { localAddress: request.source };
  const once = { allowHost: true, poolMaxIdlePerHost: 0 };
  using client = clientOnItsOwn({ ...once, ...source, http1: !isHttp2, http2: isHttp2 });
  return await ask(request, isHttp2, (init) => realFetch(request.url, { ...init, client }));
}

/** Sends a request over this program's own TLS connection, because Deno's client always verifies certificates. */
async function overTls(request: Exchange, url: URL): Promise<ExchangeAnswer> {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const protocols = request.protocol === "negotiated" ? ["h2", "http/1.1"] : [];
  const connection = await dial({
    host,
    port: url.port === "" ? 443 : Number(url.port),
    source: request.source,
    tls: { serverName: host, authorities: undefined, protocols, insecure: true },
    signal: request.signal,
  });
  const isHttp2 = connection.protocol === "h2";
  const http = httpOver(connection, isHttp2 ? "h2" : "http/1.1");
  // HTTP/2 takes the name of the server from the URL, not from a header.
  const authority = isHttp2 ? request.headers.get("host") ?? url.host : url.host;
  try {
    return await ask(request, isHttp2, (init) => http.request(authority, url.pathname + url.search, init));
  } catch (error) {
    throw await http.why(error);
  } finally {
    http.close();
  }
}

async function ask(
  { method, headers: given, body, signal, maxBodyBytes }: Exchange,
  isHttp2: boolean,
  send: (init: RequestInit) => Promise<Response>,
): Promise<ExchangeAnswer> {
  const headers = new Headers(given);
  if (isHttp2) { for (const name of NOT_IN_HTTP2) headers.delete(name); }
  const init = { method, headers, signal, redirect: "manual" } as const;
  const response = await send(body === undefined ? init : { ...init, body });
  return { status: response.status, headers: response.headers, body: await readAtMost(response, maxBodyBytes) };
}

/**
 * Reads at most `maxBytes` of a body. Returns the received part if the connection breaks, because a probe needs only
 * the status.
 */
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
    // The connection broke, or the signal fired.
  }
  return joinBytes(pieces).slice(0, maxBytes);
}
