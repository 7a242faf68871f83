/**
 * The status of one GET. A server on loopback is asked over a connection of our own: the start of the runtime's `fetch` takes 3 ms,
 * a tenth of the start of a program. A timer ends it: the runtime's signals and listeners take 0.2 ms when they are used first.
 */
import { isRuntimeError } from "../../runtime_errors.ts";
import type { Network } from "../../world.ts";

/** The status after redirects, without the body. It takes `limit` milliseconds at most; errors are those of `request`. */
export async function statusOf(url: string, limit: number, request: Network["request"]): Promise<number> {
  const end = performance.now() + limit;
  const known = await ownStatus(new URL(url).href, limit);
  if (known !== undefined) return known;
  const response = await request(url, { signal: AbortSignal.timeout(Math.max(0, end - performance.now())) });
  await response.body?.cancel();
  return response.status;
}

const HTTP = "http://";

/** Neither a proxy of the environment nor another family of addresses is in question. */
const LOOPBACK = [["localhost", "localhost"], ["127.0.0.1", "127.0.0.1"], ["[::1]", "::1"]] as const;

/** The address of the authority of a URL that is on loopback. */
function loopbackAddress(authority: string): { readonly hostname: string; readonly port: number } | undefined {
  for (const [host, hostname] of LOOPBACK) {
    if (authority === host) return { hostname, port: 80 };
    if (authority.startsWith(`${host}:`)) return { hostname, port: Number(authority.slice(host.length + 1)) };
  }
  return undefined;
}

/** `undefined` where `fetch` has more to do: redirects, TLS, another address, a failure, an answer that is not HTTP. */
async function ownStatus(url: string, limit: number): Promise<number | undefined> {
  const host = url.slice(HTTP.length, url.indexOf("/", HTTP.length));
  const address = url.startsWith(HTTP) ? loopbackAddress(host) : undefined;
  if (address === undefined) return undefined;
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new DOMException("Signal timed out.", "TimeoutError")), limit);
  const connecting = Deno.connect(address);
  const [path = ""] = url.slice(HTTP.length + host.length).split("#", 1);
  const get = `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nAccept: */*\r\nConnection: close\r\n\r\n`;
  try {
    return statusIn(await Promise.race([late, answerTo(get, connecting)]));
  } catch (error) {
    const isFinal = error instanceof DOMException ||
      address.hostname !== "localhost" && isRuntimeError(error, "refused");
    if (isFinal) throw error;
    return undefined;
  } finally {
    clearTimeout(timer);
    connecting.then((connection) => connection.close(), () => {});
  }
}

/** The start of the answer to a request. */
async function answerTo(request: string, connecting: Promise<Deno.TcpConn>): Promise<string> {
  const connection = await connecting;
  await connection.write(new TextEncoder().encode(request));
  return await firstLine(connection);
}

const LONGEST = 1024;

/** What was received up to the end of a line, of the connection, or of patience. */
async function firstLine(connection: Deno.TcpConn): Promise<string> {
  const bytes = new Uint8Array(LONGEST);
  for (let filled = 0;;) {
    const count = await connection.read(bytes.subarray(filled));
    filled += count ?? 0;
    if (count === null || filled === LONGEST || bytes.subarray(0, filled).includes(10)) {
      return new TextDecoder().decode(bytes.subarray(0, filled));
    }
  }
}

/** Of an answer that is neither provisional nor a redirect. */
function statusIn(text: string): number | undefined {
  const [, status] = /^HTTP\/1\.[01] ([245]\d\d)[ \r]/.exec(text) ?? [];
  return status === undefined ? undefined : Number(status);
}
