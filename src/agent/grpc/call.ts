/** Makes gRPC calls with `fetch` over HTTP/2. Each call has a connection of its own. */
import { requestFailure } from "../../platform/request_failure.ts";
import { DialError, type HttpConnection, type Network } from "../../platform/mod.ts";
import { dialEndpoint, type GrpcEndpoint } from "./connection.ts";
import { aborted, callText, GrpcError, refused, unreachable } from "./error.ts";
import { encodeFrame, FrameError, frames } from "./frames.ts";
import { CODE, statusOf } from "./status.ts";

export interface GrpcRequest {
  readonly endpoint: GrpcEndpoint;
  /** `/package.Service/Method`. */
  readonly method: string;
  /** Metadata of the call, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
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
  /** Ends the call and its connection; `messages()` then ends without an error. */
  close(): void;
}

/**
 * Makes a unary call. Rejects with a `GrpcError` on failure. Also rejects if the response contains no message: the
 * status is then in the trailers, which `fetch` does not expose.
 */
export async function grpcCall(network: Network, request: GrpcRequest, message: Uint8Array): Promise<Uint8Array> {
  const client = await connected(network, request);
  try {
    const response = await post(client, request, encodeFrame(message), request.signal);
    for await (const answer of answers(request, response)) return answer;
    throw new GrpcError(CODE.Unknown, "status", `The server ended ${callText(request)} without an answer`);
  } catch (error) {
    throw await explained(error, client, request);
  } finally {
    client.close();
  }
}

/** Starts a bidirectional stream. Rejects with a `GrpcError` if there is no connection. */
export async function grpcStream(network: Network, request: GrpcRequest): Promise<GrpcStream> {
  const client = await connected(network, request);
  let isOpen = true;
  client.ended.then(() => isOpen = false);
  const end = new AbortController();
  const over = Promise.withResolvers<never>();
  over.promise.catch(() => {});
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const response = post(client, request, readable, AbortSignal.any([request.signal, end.signal]));
  response.catch(finish);
  let isClosed = false;
  function finish(): void {
    if (end.signal.aborted) return;
    end.abort();
    over.reject(new GrpcError(CODE.Unavailable, "status", `The call ${callText(request)} has ended`));
    writer.abort().catch(() => {});
    client.close();
  }
  async function* messages(): AsyncGenerator<Uint8Array> {
    try {
      yield* answers(request, await response);
    } catch (error) {
      if (isClosed) return;
      const failure = await explained(error, client, request);
      // A server that ends a call without reading the whole request resets the stream; its connection stays open.
      if (failure.stage !== "connection" || !isOpen) throw failure;
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

async function connected(network: Network, request: GrpcRequest): Promise<HttpConnection> {
  try {
    return await network.http(await dialEndpoint(network, request.endpoint, request.signal), "h2");
  } catch (error) {
    throw request.signal.aborted ? aborted(callText(request), request.signal) : unreachable(error);
  }
}

function post(
  client: HttpConnection,
  { endpoint, method, headers }: GrpcRequest,
  body: BodyInit,
  signal: AbortSignal,
): Promise<Response> {
  const fields = { ...headers, "content-type": "application/grpc", te: "trailers" };
  return client.request(endpoint.address, method, { method: "POST", headers: fields, body, signal });
}

/** Yields the messages of a response. Throws if the headers contain a status other than OK. */
async function* answers(request: GrpcRequest, response: Response): AsyncGenerator<Uint8Array> {
  const status = statusOf(response);
  if (status !== undefined) {
    await response.body?.cancel();
    if (status.code !== CODE.OK) throw refused(callText(request), status);
  } else if (response.body !== null) {
    yield* frames(response.body);
  }
}

/** Turns an error of a call into a `GrpcError`. */
async function explained(error: unknown, client: HttpConnection, request: GrpcRequest): Promise<GrpcError> {
  const text = callText(request);
  if (error instanceof GrpcError) return error;
  if (error instanceof FrameError) {
    return new GrpcError(CODE.Internal, "protocol", `The answer to ${text} cannot be read: ${error.message}`);
  }
  if (request.signal.aborted) return aborted(text, request.signal);
  const cause = await client.why(error);
  if (cause instanceof DialError) return unreachable(cause);
  const message = `The connection broke during ${text}: ${requestFailure(cause, 0).text}`;
  return new GrpcError(CODE.Unavailable, "connection", message, { cause: error });
}
