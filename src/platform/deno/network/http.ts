/**
 * Step 3 of 3 of a request: HTTP over an open connection. Deno's `fetch` always opens its own connection, for example to a
 * Unix socket. So each connection gets a private Unix socket, and bytes are copied between the socket and the connection.
 */
import type {
  ByteConnection,
  HttpConnection,
  HttpVersion,
  WebSocketConnection,
  WebSocketRequest,
} from "../../world.ts";
import { splice } from "../../splice.ts";
import { realFetch } from "./fetch.ts";
import { privateSocket } from "./private_socket.ts";
import { clientOnItsOwn } from "./proxies.ts";
import { openWebSocket } from "./web_socket.ts";

/** An HTTP connection with additional methods for `openClient`. */
export interface OwnHttpConnection extends HttpConnection {
  /** Turns the connection into a WebSocket (HTTP/1.1). */
  webSocket(authority: string, path: string, request: WebSocketRequest): Promise<WebSocketConnection>;
}

/** Implements `Network.http` over this connection. */
export function httpOver(connection: ByteConnection, version: HttpVersion): OwnHttpConnection {
  const socket = privateSocket();
  const client = clientOnItsOwn({
    http1: version === "http/1.1",
    http2: version === "h2",
    allowHost: true,
    proxy: { transport: "unix", path: socket.path },
  });
  let isClosed = false;
  function close() {
    if (isClosed) return;
    isClosed = true;
    socket.close();
    client.close();
  }
  const heads = { expected: 0 };
  const inner = socket.accept();
  const accepted = inner.then(() => {}, () => {});
  let isFirst = true;
  const ended = feed(inner, version === "h2" ? connection : withOriginForm(connection, heads)).finally(close);
  return {
    async request(authority, path, init) {
      // A second connection before this point would wait forever.
      if (!isFirst) await accepted;
      isFirst = false;
      const before = heads.expected++;
      try {
        return await realFetch(`http://${authority}${path}`, { ...init, client });
      } finally {
        heads.expected = Math.min(heads.expected, before);
      }
    },
    webSocket(authority, path, request) {
      isFirst = false;
      heads.expected++;
      return openWebSocket(`ws://${authority}${path}`, request, client);
    },
    ended,
    why: async (error) => await Promise.race([ended, soon()]) ?? error,
    close() {
      connection.close();
      close();
    },
  };
}

/** Waits one turn of the event loop. A broken connection fails its requests shortly before its own error is available. */
function soon(): Promise<undefined> {
  return new Promise((resolve) => setTimeout(resolve, 0, undefined));
}

/**
 * Copies bytes between the private socket's client and the connection. Resolves with the error that broke the
 * connection, if any.
 */
async function feed(inner: Promise<ByteConnection>, connection: ByteConnection): Promise<unknown> {
  try {
    return (await splice(connection, await inner)).error;
  } catch (error) {
    connection.close();
    return error;
  }
}

/** Matches `GET http://HOST` at the start of a request. */
const ABSOLUTE_FORM = /^([A-Z]+ )http:\/\/[^/ ]+/;
/** Maximum bytes to search for the request line's host; a host has at most 255 characters. */
const LONGEST_START = 300;

/**
 * Replaces the URL in request lines with its path, which is the form that servers require (RFC 9112 3.2.1). Deno treats
 * a Unix socket as an HTTP/1.1 proxy and therefore sends the whole URL. Deno writes the head of a request in one write,
 * and only after the response to the previous request.
 */
function withOriginForm(connection: ByteConnection, heads: { expected: number }): ByteConnection {
  return {
    ...connection,
    async write(bytes) {
      if (heads.expected === 0) return await connection.write(bytes);
      const [all = "", method = ""] = ABSOLUTE_FORM.exec(latin1.decode(bytes.subarray(0, LONGEST_START))) ?? [];
      heads.expected--;
      const cut = all.length - method.length;
      if (cut > 0) bytes.copyWithin(cut, 0, method.length);
      return cut + await connection.write(bytes.subarray(cut));
    },
  };
}

const latin1 = new TextDecoder("latin1");
