/** gRPC over HTTP: which method is asked for, and the stream behind it. */
import { MeshError, messageOf } from "../../core/errors.ts";
import { CODE, encodeFrame, FrameError, frames } from "../../core/grpc/mod.ts";
import { type Logger, logText } from "../../core/log.ts";
import { SecretStream, type StreamOptions } from "./stream.ts";

const SERVICE = "/envoy.service.secret.v3.SecretDiscoveryService/";
const STREAM = `${SERVICE}StreamSecrets`;

/** A request for secrets has names and, at first, the node with its metadata: gRPC's own default for a message. */
const LARGEST_REQUEST = 4 * 1024 * 1024;

/** What the handler is told. */
export interface HandlerOptions extends StreamOptions {
  /** The streams that are open; the handler adds and removes them. */
  readonly streams: Set<SecretStream>;
  readonly log: Logger;
}

/** Answers `StreamSecrets`; other methods, those for one answer and for differences among them, are not implemented. */
export function secretHandler(options: HandlerOptions): (request: Request) => Response {
  return (request) => {
    const { pathname } = new URL(request.url);
    const isGrpc = /^application\/grpc(\+proto)?($|;)/.test(request.headers.get("content-type") ?? "");
    if (!isGrpc || request.method !== "POST") return new Response(null, { status: isGrpc ? 405 : 415 });
    if (pathname !== STREAM) return notImplemented(pathname);
    const stream = new SecretStream(options);
    options.streams.add(stream);
    void readRequests(request, stream, options);
    return new Response(answersOf(stream), { headers: { "content-type": "application/grpc" } });
  };
}

/** Headers alone: Deno's server sends no trailers. */
function notImplemented(path: string): Response {
  const message = path.startsWith(SERVICE) ? `method ${path.slice(SERVICE.length)} not implemented` : "unknown service";
  return new Response(null, {
    headers: {
      "content-type": "application/grpc",
      "grpc-status": String(CODE.Unimplemented),
      "grpc-message": encodeURIComponent(message),
    },
  });
}

/** Until the proxy ends the stream or goes away; what cannot be read ends the stream with an error. */
async function readRequests(
  { body }: Request,
  stream: SecretStream,
  { log, streams }: HandlerOptions,
): Promise<void> {
  try {
    if (body !== null) { for await (const message of frames(body, LARGEST_REQUEST)) stream.take(message); }
    stream.end();
  } catch (error) {
    const isWrong = error instanceof FrameError || error instanceof MeshError;
    log[isWrong ? "warning" : "debug"](logText(`A stream of secrets has ended: ${messageOf(error)}`));
    stream.end(isWrong ? { error } : undefined);
  }
  streams.delete(stream);
}

function answersOf(stream: SecretStream): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      const answer = await stream.next();
      if (answer === undefined) controller.close();
      else controller.enqueue(encodeFrame(answer));
    },
    cancel: () => stream.end(),
  }, { highWaterMark: 0 });
}
