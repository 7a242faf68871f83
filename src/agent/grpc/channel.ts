/** Makes gRPC calls with `fetch` over HTTP/2. */
import { requestFailure } from "../../platform/request_failure.ts";
import { DialError, isRuntimeError, type Network, unlessAborted } from "../../platform/mod.ts";
import { type Connected, type Connections, connectionsTo, type GrpcEndpoint } from "./connection.ts";
import { aborted, callText, GrpcError, refused, unreachable } from "./error.ts";
import { encodeFrame, FrameError, frames } from "./frames.ts";
import { CODE, statusOf } from "./status.ts";

export interface CallOptions {
  /** Metadata of the call, with names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

export interface GrpcStream {
  /** Sends a message; waits while the server does not read. Rejects with a `GrpcError` after the end of the call. */
  send(message: Uint8Array): Promise<void>;
  /**
   * Returns the server's messages, to be read only once. Ends without an error when the server ends the call after its
   * headers, regardless of the status, because `fetch` does not expose trailers. Throws a `GrpcError` if the server
   * refuses the call, the connection breaks or the signal fires.
   */
  messages(): AsyncIterable<Uint8Array>;
  /** Ends the call; `messages()` then ends without an error. */
  close(): void;
}

export interface GrpcChannel {
  /**
   * Makes a unary call; `method` is `/package.Service/Method`. Rejects with a `GrpcError` on failure. Also rejects if
   * the response contains no message: the status is then in the trailers, which `fetch` does not expose.
   */
  call(method: string, message: Uint8Array, options: CallOptions): Promise<Uint8Array>;
  /** Starts a bidirectional stream. Rejects with a `GrpcError` if there is no connection. */
  stream(method: string, options: CallOptions): Promise<GrpcStream>;
  close(): void;
}

/**
 * Opens a channel. The channel connects on its first call, and reconnects on the first call after the connection broke.
 */
export function openChannel(network: Network, endpoint: GrpcEndpoint): GrpcChannel {
  const connections = connectionsTo(network, endpoint);
  const { address } = endpoint;
  const callOf = (method: string, options: CallOptions): Call => {
    return { connections, address, method, options, text: callText(method, address) };
  };
  return {
    call: (method, message, options) => unary(callOf(method, options), encodeFrame(message)),
    stream: (method, options) => stream(callOf(method, options)),
    close: () => connections.close(),
  };
}

interface Call {
  readonly connections: Connections;
  readonly address: string;
  readonly method: string;
  readonly options: CallOptions;
  readonly text: string;
}

async function take({ connections, text, options: { signal } }: Call): Promise<Connected> {
  const taken = connections.take();
  try {
    return await unlessAborted(taken, signal);
  } catch (error) {
    taken.then((late) => connections.giveBack(late), () => {});
    throw signal.aborted ? aborted(text, signal) : unreachable(error);
  }
}

async function unary(call: Call, body: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  try {
    return await onConnection(call, (connected) => answerOn(connected, call, body));
  } catch (error) {
    if (!isUnsent(error)) throw error;
    // The server drains this connection (GOAWAY); the request was not sent.
    return await onConnection(call, (connected) => answerOn(connected, call, body));
  }
}

async function onConnection<T>(call: Call, use: (connected: Connected) => Promise<T>): Promise<T> {
  const connected = await take(call);
  try {
    return await use(connected);
  } catch (error) {
    throw await explained(error, connected, call);
  } finally {
    call.connections.giveBack(connected);
  }
}

async function answerOn(connected: Connected, call: Call, body: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const response = await post(connected, call, { body, signal: call.options.signal });
  for await (const message of answers(call, response)) return message;
  throw new GrpcError(CODE.Unknown, "status", `The server ended ${call.text} without an answer`);
}

function post({ client }: Connected, { address, method, options }: Call, init: RequestInit): Promise<Response> {
  const headers = { ...options.headers, "content-type": "application/grpc", te: "trailers" };
  return client.request(address, method, { ...init, method: "POST", headers });
}

/** Yields the messages of a response. Throws if the headers contain a status other than OK. */
async function* answers({ text }: Call, response: Response): AsyncGenerator<Uint8Array> {
  const status = statusOf(response);
  if (status !== undefined) {
    await response.body?.cancel();
    if (status.code !== CODE.OK) throw refused(text, status);
  } else if (response.body !== null) {
    yield* frames(response.body);
  }
}

function isUnsent(error: unknown): boolean {
  return error instanceof GrpcError && isRuntimeError(error.cause, "unsent");
}

/**
 * Turns an error of a call into a `GrpcError`. After a timeout, the next call uses a new connection, because the peer
 * may be gone.
 */
async function explained(error: unknown, connected: Connected, call: Call): Promise<GrpcError> {
  const { text, connections, options: { signal } } = call;
  if (error instanceof GrpcError) return error;
  if (error instanceof FrameError) {
    return new GrpcError(CODE.Internal, "protocol", `The answer to ${text} cannot be read: ${error.message}`);
  }
  if (signal.aborted) {
    connections.leave(connected);
    return aborted(text, signal);
  }
  const cause = await connected.client.why(error);
  if (cause instanceof DialError) return unreachable(cause);
  const broken = new GrpcError(
    CODE.Unavailable,
    "connection",
    `The connection broke during ${text}: ${requestFailure(cause, 0).text}`,
    { cause: error },
  );
  if (isUnsent(broken)) connections.leave(connected);
  return broken;
}

async function stream(call: Call): Promise<GrpcStream> {
  const connected = await take(call);
  const end = new AbortController();
  const over = Promise.withResolvers<never>();
  over.promise.catch(() => {});
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const response = post(connected, call, {
    body: readable,
    signal: AbortSignal.any([call.options.signal, end.signal]),
  });
  response.catch(finish);
  let isClosed = false;
  function finish(): void {
    if (end.signal.aborted) return;
    end.abort();
    over.reject(new GrpcError(CODE.Unavailable, "status", `The call ${call.text} has ended`));
    writer.abort().catch(() => {});
    call.connections.giveBack(connected);
  }
  async function* messages(): AsyncGenerator<Uint8Array> {
    try {
      yield* answers(call, await response);
    } catch (error) {
      if (isClosed) return;
      const failure = await explained(error, connected, call);
      if (!isReset(failure, connected)) throw failure;
    } finally {
      finish();
    }
  }
  return {
    send: (message) => Promise.race([over.promise, writer.write(encodeFrame(message))]),
    messages,
    close() {
      isClosed = true;
      finish();
    },
  };
}

/**
 * Whether the failure is a stream reset at the regular end of a call. A server resets the stream if it ends a call
 * without reading the whole request.
 */
function isReset(failure: GrpcError, { isOpen }: Connected): boolean {
  return failure.stage === "connection" && isOpen && !isUnsent(failure);
}
