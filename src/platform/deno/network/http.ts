/**
 * The third of three parts of a request: HTTP over a connection. Deno's `fetch` opens its own connections, also to a
 * Unix socket: each connection gets such a socket, and its bytes are copied.
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

/** An HTTP connection with the methods that only clients of a server need. */
export interface OwnHttpConnection extends HttpConnection {
  /** Turns the connection into a WebSocket (HTTP/1.1). */
  webSocket(authority: string, path: string, request: WebSocketRequest): Promise<WebSocketConnection>;
}

/** HTTP over this connection; see `Network.http`. */
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
      // Before that, a second connection of the client would wait for ever.
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

/** One turn of the event loop: a broken connection fails its requests shortly before its own error is known. */
function soon(): Promise<undefined> {
  return new Promise((resolve) => setTimeout(resolve, 0, undefined));
}

/** Splices the socket's client to the connection. Resolves with the error that broke it, if any. */
async function feed(inner: Promise<ByteConnection>, connection: ByteConnection): Promise<unknown> {
  try {
    return (await splice(connection, await inner)).error;
  } catch (error) {
    connection.close();
    return error;
  }
}

/** `GET http://HOST/PATH` at the start of what is written. */
const ABSOLUTE_FORM = /^([A-Z]+ )http:\/\/[^/ ]+/;
/** A host has at most 255 characters. */
const LONGEST_START = 300;

/**
 * Rewrites request lines to the path alone, which servers want (RFC 9112 3.2.1). For Deno, HTTP/1.1 through a Unix
 * socket is a request to a proxy, with the whole URL in its first line. Deno writes a request's head at once, and only
 * after the response to the previous request.
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
