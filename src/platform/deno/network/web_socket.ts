/** WebSockets (RFC 6455), with the events of Deno's `WebSocket` as a stream of messages. */
import { messageOf } from "../../../base/errors.ts";
import { isRuntimeError } from "../../runtime_errors.ts";
import type { WebSocketConnection, WebSocketRequest } from "../../http.ts";

/** Opens a WebSocket over the connections of a client; see `HttpClient.webSocket`. */
export async function openWebSocket(
  url: string,
  { protocols, headers, signal }: WebSocketRequest,
  client: Deno.HttpClient,
): Promise<WebSocketConnection> {
  signal.throwIfAborted();
  const socket = new WebSocket(url, { protocols: [...protocols], headers, client });
  socket.binaryType = "arraybuffer";
  const opened = Promise.withResolvers<void>();
  const messages = messagesOf(socket, signal);
  socket.onopen = () => opened.resolve();
  socket.addEventListener("error", (event) => opened.reject(new TypeError(reasonOfEvent(event))));
  socket.addEventListener("close", () => opened.reject(new TypeError("the connection was closed")));
  const abort = () => {
    opened.reject(signal.reason);
    if (socket.readyState < WebSocket.CLOSING) socket.close();
  };
  signal.addEventListener("abort", abort);
  socket.addEventListener("close", () => signal.removeEventListener("abort", abort));
  await opened.promise;
  return {
    protocol: socket.protocol,
    messages,
    send: (bytes) => socket.send(bytes),
    close() {
      if (socket.readyState < WebSocket.CLOSING) socket.close();
    },
  };
}

/** Close codes that are not errors (RFC 6455 7.4.1): normal closure, going away, no code. */
const WELL_ENDED: readonly number[] = [1000, 1001, 1005];

/** Returns a socket's messages as a stream, which buffers unread messages. */
function messagesOf(socket: WebSocket, signal: AbortSignal): ReadableStream<Uint8Array> {
  let isOpen = true;
  return new ReadableStream({
    start(controller) {
      function end(error?: unknown) {
        if (!isOpen) return;
        isOpen = false;
        if (error === undefined) controller.close();
        else controller.error(error);
      }
      socket.onmessage = ({ data }: MessageEvent<unknown>) => {
        if (!isOpen) return;
        if (data instanceof ArrayBuffer) controller.enqueue(new Uint8Array(data));
        else if (typeof data === "string") controller.enqueue(new TextEncoder().encode(data));
      };
      socket.onerror = (event) => {
        const error = new TypeError(reasonOfEvent(event));
        end(isRuntimeError(error, "unansweredClose") ? undefined : error);
      };
      socket.onclose = ({ code, reason }) => {
        const why = reason === "" ? `the connection broke (WebSocket status ${code})` : reason;
        end(WELL_ENDED.includes(code) ? undefined : new TypeError(why));
      };
      signal.addEventListener("abort", () => end(signal.reason), { once: true });
    },
    cancel: () => {
      // More messages may arrive until the peer has closed too.
      isOpen = false;
      if (socket.readyState < WebSocket.CLOSING) socket.close();
    },
  });
}

function reasonOfEvent(event: Event): string {
  return event instanceof ErrorEvent ? messageOf(event.error ?? event.message) : "the connection broke";
}
