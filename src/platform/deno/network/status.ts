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

/** No proxy of the environment is in question. What `localhost` is needs no resolver (RFC 6761). */
const LOOPBACK: readonly (readonly [host: string, addresses: readonly string[]])[] = [
  ["localhost", ["127.0.0.1", "::1"]],
  ["127.0.0.1", ["127.0.0.1"]],
  ["[::1]", ["::1"]],
];

interface Loopback {
  readonly addresses: readonly string[];
  readonly port: number;
}

/** What the authority of a URL means on loopback; `undefined` if it is another host. */
function loopbackOf(authority: string): Loopback | undefined {
  for (const [host, addresses] of LOOPBACK) {
    if (authority === host) return { addresses, port: 80 };
    if (authority.startsWith(`${host}:`)) return { addresses, port: Number(authority.slice(host.length + 1)) };
  }
  return undefined;
}

/** Rejects with the error of the first address. */
async function connect({ addresses: [hostname = "", ...others], port }: Loopback): Promise<Deno.TcpConn> {
  try {
    return await Deno.connect({ hostname, port });
  } catch (error) {
    if (others.length === 0) throw error;
    return await connect({ addresses: others, port }).catch(() => Promise.reject(error));
  }
}

/** `undefined` where `fetch` has more to do: redirects, TLS, another address, a failure, an answer that is not HTTP. */
async function ownStatus(url: string, limit: number): Promise<number | undefined> {
  const host = url.slice(HTTP.length, url.indexOf("/", HTTP.length));
  const loopback = url.startsWith(HTTP) ? loopbackOf(host) : undefined;
  if (loopback === undefined) return undefined;
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new DOMException("Signal timed out.", "TimeoutError")), limit);
  const connecting = connect(loopback);
  const [path = ""] = url.slice(HTTP.length + host.length).split("#", 1);
  const get = `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nAccept: */*\r\nConnection: close\r\n\r\n`;
  try {
    return statusIn(await Promise.race([late, answerTo(get, connecting)]));
  } catch (error) {
    if (error instanceof DOMException || isRuntimeError(error, "refused")) throw error;
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
