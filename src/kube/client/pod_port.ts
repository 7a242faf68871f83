/**
 * Sends an HTTP request to a port of a pod, as `kubectl port-forward` does, even if the port listens only on loopback.
 * Uses a WebSocket whose messages begin with the number of a stream, for data or errors (k8s.io/kubelet,
 * pkg/cri/streaming/portforward/websocket.go); the first message of each stream is the port.
 */
import { apiPath } from "../api_path.ts";
import { joinBytes } from "../../base/bytes.ts";
import { messageOf } from "../../base/errors.ts";
import { unlessAborted, type WebSocketConnection } from "../../platform/mod.ts";
import { ApiError } from "./api.ts";
import { refusal } from "./failure.ts";
import { readAll } from "./read_all.ts";
import type { Transport } from "./transport.ts";

const PROTOCOLS = ["v4.channel.k8s.io"];
const DATA = 0;
const PORT_BYTES = 2;
const MAX_ANSWER = 64 * 1024;
/** Each message counts as at least this many bytes, because a million empty messages also need memory. */
const MIN_MESSAGE = 64;

export interface PodPortRequest {
  readonly namespace: string;
  readonly pod: string;
  readonly port: number;
  /** The path with a leading slash, and the query. */
  readonly path: string;
  /** Milliseconds within which the answer must be complete. */
  readonly timeout: number;
  /** Maximum bytes of the answer, including its headers. */
  readonly maxBytes: number;
}

/**
 * Returns the body of the answer to a GET request. Rejects with an ApiError if the permission is missing, if no process
 * listens on the port, if the connection breaks, if the status is not 200, and if the answer is late or too long.
 */
export async function getFromPort(transport: Transport, request: PodPortRequest): Promise<Uint8Array> {
  const timeout = AbortSignal.timeout(request.timeout);
  const where = `port ${request.port} of pod "${request.namespace}/${request.pod}"`;
  try {
    const socket = await open(transport, request, timeout);
    try {
      // With HTTP/1.0, the answer is not chunked, and ends with the connection.
      const text = `GET ${request.path} HTTP/1.0\r\nHost: localhost\r\n\r\n`;
      socket.send(new Uint8Array([DATA, ...new TextEncoder().encode(text)]));
      return bodyOf(await unlessAborted(answer(socket, request.maxBytes, where), timeout), where);
    } finally {
      socket.close();
    }
  } catch (error) {
    if (error instanceof ApiError) throw error;
    const why = timeout.aborted ? ` within ${request.timeout} ms` : `: ${messageOf(error)}`;
    throw new ApiError(`No answer from ${where}${why}`, { cause: error });
  }
}

async function open(transport: Transport, request: PodPortRequest, signal: AbortSignal): Promise<WebSocketConnection> {
  const { namespace, pod, port } = request;
  const path = `${apiPath("api/v1", "pods", namespace, pod)}/portforward?ports=${port}`;
  try {
    return await transport.webSocket(path, PROTOCOLS, signal);
  } catch (error) {
    if (error instanceof ApiError || signal.aborted) throw error;
    // Sends the request again without an upgrade, because the answer contains the reason.
    const response = await transport.send({ method: "GET", path, signal, milliseconds: request.timeout });
    const text = await readAll(response, MAX_ANSWER);
    const { server, origin } = transport.connection;
    if (response.status !== 403) {
      throw new ApiError(
        `The API server cannot forward port ${port} of pod "${namespace}/${pod}": ${messageOf(error)}`,
      );
    }
    const { message } = refusal(403, text, { what: `portforward of "${namespace}/${pod}"`, server, origin });
    const hint = `an administrator can grant "get" and "create" on "pods/portforward" in the namespace "${namespace}"`;
    throw new ApiError(message, { status: 403, hint });
  }
}

async function answer({ messages }: WebSocketConnection, maxBytes: number, where: string): Promise<Uint8Array> {
  const streams: readonly Uint8Array[][] = [[], []];
  let length = 0;
  for await (const message of messages) {
    const [stream = DATA] = message;
    const bytes = message.subarray(1);
    length += Math.max(bytes.length, MIN_MESSAGE);
    if (length > maxBytes) throw new ApiError(`The answer from ${where} is longer than ${maxBytes} bytes`);
    streams[stream]?.push(bytes);
  }
  const [data = new Uint8Array(), error = new Uint8Array()] = streams.map((each) =>
    joinBytes(each).subarray(PORT_BYTES)
  );
  if (error.length > 0) throw new ApiError(`No answer from ${where}: ${new TextDecoder().decode(error)}`);
  return data;
}

function bodyOf(bytes: Uint8Array, where: string): Uint8Array {
  const start = new TextDecoder("latin1").decode(bytes.subarray(0, MAX_ANSWER));
  const [, status] = /^HTTP\/1\.[01] (\d{3})/.exec(start) ?? [];
  const end = start.indexOf("\r\n\r\n");
  if (status === undefined || end < 0) throw new ApiError(`The answer from ${where} is not HTTP`);
  if (status !== "200") throw new ApiError(`The answer from ${where} has the status ${status}`);
  return bytes.subarray(end + 4);
}
