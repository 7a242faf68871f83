/** Calls of a server by gRPC, over `fetch` with HTTP/2. */
import { requestFailure } from "../request_failure.ts";
import { DialError, isRuntimeError, type Network, unlessAborted } from "../world/mod.ts";
import { type Connected, type Connections, connectionsTo, type GrpcEndpoint } from "./connection.ts";
import { aborted, callText, GrpcError, refused, unreachable } from "./error.ts";
import { encodeFrame, FrameError, frames } from "./frames.ts";
import { CODE, statusOf } from "./status.ts";

/** What goes with a call. */
export interface CallOptions {
  /** Metadata: names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Ends the call. */
  readonly signal: AbortSignal;
}

/** A call of which both sides send messages. */
export interface GrpcStream {
  /** Resolves when it is on its way; waits while the server takes nothing. Rejects with a `GrpcError` after the end. */
  send(message: Uint8Array): Promise<void>;
  /**
   * What the server sends, to be read once. Ends when the server ends the call, whatever its status, if it sent anything
   * before: that is in trailers, which cannot be seen. Throws a `GrpcError` for a call that is refused at once, a connection
   * that breaks, and the signal.
   */
  messages(): AsyncIterable<Uint8Array>;
  /** Ends the call; `messages()` ends without an error. */
  close(): void;
}

/** Calls to one server. */
export interface GrpcChannel {
  /**
   * One message for one: `method` is `/package.Service/Method`. Rejects with a `GrpcError`; an answer without a message is
   * one, as the status behind it is in trailers, which cannot be seen.
   */
  call(method: string, message: Uint8Array, options: CallOptions): Promise<Uint8Array>;
  /** Begins a call of streams, when there is a connection. Rejects with a `GrpcError` if there is none. */
  stream(method: string, options: CallOptions): Promise<GrpcStream>;
  /** Ends all calls and the connection; there are no more then. */
  close(): void;
}

/** A channel connects with its first call, and anew with the first call after the connection broke. */
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

/** A call that is being made. */
interface Call {
  readonly connections: Connections;
  readonly address: string;
  readonly method: string;
  readonly options: CallOptions;
  /** What it is in errors. */
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
    // The server wants no more calls on that connection (GOAWAY); nothing was sent.
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

/** The messages of an answer; a status in its headers that is none of success is thrown. */
async function* answers({ text }: Call, response: Response): AsyncGenerator<Uint8Array> {
  const status = statusOf(response);
  if (status !== undefined) {
    await response.body?.cancel();
    if (status.code !== CODE.OK) throw refused(text, status);
  } else if (response.body !== null) {
    yield* frames(response.body);
  }
}

/** What `fetch` says when it needs another connection, of which there is none behind the socket. */
function isUnsent(error: unknown): boolean {
  return error instanceof GrpcError && isRuntimeError(error.cause, "unsent");
}

/** After a call that was not answered in time the next one gets a new connection: nobody may be at the other end. */
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
    `The connection broke under ${text}: ${requestFailure(cause, 0).text}`,
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
    over.reject(new GrpcError(CODE.Unavailable, "status", `The call of ${call.text} has ended`));
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

/** A server that ends a call of which it has not read all resets it, which is an end as any other. */
function isReset(failure: GrpcError, { isOpen }: Connected): boolean {
  return failure.stage === "connection" && isOpen && !isUnsent(failure);
}
