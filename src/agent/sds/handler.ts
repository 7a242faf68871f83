/** gRPC over HTTP: dispatches the method and runs the stream. */
import { MeshError, messageOf } from "../../base/errors.ts";
import { CODE, encodeFrame, FrameError, FrameReader } from "../grpc/mod.ts";
import { type Logger, logText } from "../../platform/log.ts";
import { SecretStream, type StreamOptions } from "./stream.ts";

const SERVICE = "/envoy.service.secret.v3.SecretDiscoveryService/";
const STREAM = `${SERVICE}StreamSecrets`;

/** Maximum size of a request, in bytes: gRPC's default. The first request contains the node with its metadata. */
const MAX_REQUEST = 4 * 1024 * 1024;

/** Maximum number of streams. Envoy opens a stream for each secret in its configuration. */
export const MAX_STREAMS = 500;

export interface HandlerOptions extends StreamOptions {
  readonly streams: Set<SecretStream>;
}

/** Serves `StreamSecrets`; `FetchSecrets` and `DeltaSecrets` are not implemented. */
export function secretHandler(options: HandlerOptions): (request: Request) => Response {
  return (request) => {
    const { pathname } = new URL(request.url);
    const isGrpc = /^application\/grpc(\+proto)?($|;)/.test(request.headers.get("content-type") ?? "");
    if (!isGrpc || request.method !== "POST") return new Response(null, { status: isGrpc ? 405 : 415 });
    if (pathname !== STREAM) return notImplemented(pathname);
    if (options.streams.size >= MAX_STREAMS) return failed(CODE.ResourceExhausted, "too many streams");
    const stream = new SecretStream(options);
    options.streams.add(stream);
    const requests = request.body?.getReader();
    const end = (failure?: Failure) => {
      stream.end(failure);
      options.streams.delete(stream);
      // A pending read does not notice that Envoy canceled the stream.
      requests?.cancel().catch(() => {});
    };
    if (requests !== undefined) void readRequests(requests, stream, options.log, end);
    return new Response(answersOf(stream, end), { headers: { "content-type": "application/grpc" } });
  };
}

function notImplemented(path: string): Response {
  const isKnown = path.startsWith(SERVICE);
  return failed(
    CODE.Unimplemented,
    isKnown ? `method ${path.slice(SERVICE.length)} not implemented` : "unknown service",
  );
}

/** Returns a trailers-only response, because Deno's server cannot send trailers. */
function failed(code: number, message: string): Response {
  return new Response(null, {
    headers: {
      "content-type": "application/grpc",
      "grpc-status": String(code),
      "grpc-message": encodeURIComponent(message),
    },
  });
}

interface Failure {
  readonly error: unknown;
}

/** Reads requests until the end of the stream. An invalid request fails the stream. */
async function readRequests(
  requests: ReadableStreamDefaultReader<Uint8Array>,
  stream: SecretStream,
  log: Logger,
  end: (failure?: Failure) => void,
): Promise<void> {
  const messages = new FrameReader(MAX_REQUEST);
  try {
    for (let piece = await requests.read(); !piece.done; piece = await requests.read()) {
      for (const message of messages.push(piece.value)) stream.take(message);
    }
    end();
  } catch (error) {
    const isWrong = error instanceof FrameError || error instanceof MeshError;
    log[isWrong ? "warning" : "debug"](logText(`An SDS stream ended: ${messageOf(error)}`));
    end(isWrong ? { error } : undefined);
  }
}

function answersOf(stream: SecretStream, end: () => void): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      const answer = await stream.next();
      if (answer === undefined) controller.close();
      else controller.enqueue(encodeFrame(answer));
    },
    cancel: () => end(),
  }, { highWaterMark: 0 });
}
