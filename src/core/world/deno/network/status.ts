/**
 * The status of one GET. A server on loopback is asked over a connection of our own: the start of the runtime's `fetch` takes 3 ms,
 * a tenth of the start of a program.
 */
import type { Network } from "../../world.ts";

/** The status after redirects, without the body. `signal` ends the request; errors are those of `request`. */
export async function statusOf(url: string, signal: AbortSignal, request: Network["request"]): Promise<number> {
  const known = await ownStatus(new URL(url), signal);
  if (known !== undefined) return known;
  const response = await request(url, { signal });
  await response.body?.cancel();
  return response.status;
}

/** Neither a proxy of the environment nor another family of addresses is in question. */
const LOOPBACK = /^(?:localhost|127\.0\.0\.1|\[::1\])$/;

/** `undefined` where `fetch` has more to do: redirects, TLS, another address, a refusal, an answer that is not HTTP. */
async function ownStatus(url: URL, signal: AbortSignal): Promise<number | undefined> {
  const { protocol, hostname, host, port, username, password } = url;
  if (protocol !== "http:" || !LOOPBACK.test(hostname) || username + password !== "") return undefined;
  try {
    const address = { hostname: hostname.replace(/^\[|\]$/g, ""), port: port === "" ? 80 : Number(port) };
    const connection = await Deno.connect({ ...address, signal });
    const close = () => connection.close();
    signal.addEventListener("abort", close);
    try {
      const get =
        `GET ${url.pathname}${url.search} HTTP/1.1\r\nHost: ${host}\r\nAccept: */*\r\nConnection: close\r\n\r\n`;
      await connection.write(new TextEncoder().encode(get));
      return statusIn(await firstLine(connection));
    } finally {
      signal.removeEventListener("abort", close);
      if (!signal.aborted) close();
    }
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
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
