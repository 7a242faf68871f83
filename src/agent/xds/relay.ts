/** Relays calls one by one over HTTP/2 to istiod, to add headers or health reports. Responses are not read. */
import { logText } from "../../core/log.ts";
import type { HttpConnection } from "../../core/world/mod.ts";
import { readToken } from "../identity/token.ts";
import { requestForm } from "./report_message.ts";
import { type Reporting, reporting } from "./reporting.ts";
import { connectUpstream, problemOf, type UpstreamContext } from "./upstream.ts";

/** gRPC code UNAVAILABLE. */
const UNAVAILABLE = "14";

/**
 * Answers Envoy's call with istiod's response, streamed; one connection per call. Never rejects: a failure is a gRPC
 * status. Trailers are not relayed: a call that istiod ends later ends without a status, and Envoy reconnects.
 */
export async function relay(upstream: UpstreamContext, request: Request): Promise<Response> {
  try {
    const client = await upstream.world.network.http(await connectUpstream(upstream), "h2");
    upstream.signal.addEventListener("abort", client.close, { once: true });
    client.ended.then(() => upstream.signal.removeEventListener("abort", client.close));
    return await answerOf(upstream, client, request);
  } catch (error) {
    const message = encodeURIComponent(problemOf(error));
    return new Response(null, {
      headers: { "content-type": "application/grpc", "grpc-status": UNAVAILABLE, "grpc-message": message },
    });
  }
}

async function answerOf(upstream: UpstreamContext, client: HttpConnection, request: Request): Promise<Response> {
  const { options, connection } = upstream;
  const headers = await headersOf(upstream, request);
  const { pathname, search } = new URL(request.url);
  const { method, signal } = request;
  const sent = reportingOf(upstream, pathname, request);
  const body = sent?.body ?? request.body;
  function ended(error?: unknown): void {
    sent?.stop();
    client.close();
    connection.ended(error === undefined || signal.aborted ? undefined : problemOf(error));
  }
  try {
    const response = await client.request(options.address, pathname + search, { method, headers, body, signal });
    const { status, headers: given } = response;
    return new Response(untilEnd(response.body, ended), { status, headers: given });
  } catch (error) {
    ended(error);
    throw error;
  }
}

function reportingOf({ options }: UpstreamContext, path: string, { body }: Request): Reporting | undefined {
  const { reports, log } = options;
  const form = requestForm(path);
  if (reports === undefined || form === undefined || body === null) return undefined;
  return reporting(body, form, reports, (problem) => {
    log.warning(logText(`Envoy's requests cannot be read, and go on without health reports: ${problem}`));
  });
}

async function headersOf({ world, options }: UpstreamContext, request: Request): Promise<Headers> {
  const { identity, tls, tokenFile = "" } = options;
  const headers = new Headers(request.headers);
  const token = identity === undefined && tls !== undefined ? await readToken(world.files, tokenFile) : undefined;
  if (token !== undefined) headers.set("authorization", `Bearer ${token.text}`);
  for (const [name, value] of Object.entries(options.headers)) headers.set(name, value);
  return headers;
}

/** The body; calls `ended` at its end, on an error, and when it is cancelled. */
function untilEnd(
  body: ReadableStream<Uint8Array> | null,
  ended: (error?: unknown) => void,
): ReadableStream<Uint8Array> | null {
  if (body === null) {
    ended();
    return null;
  }
  const reader = body.getReader();
  return new ReadableStream({
    async pull(controller) {
      try {
        const { value, done } = await reader.read();
        if (!done) return controller.enqueue(value);
        controller.close();
        ended();
      } catch (error) {
        controller.error(error);
        ended(error);
      }
    },
    async cancel(reason) {
      ended();
      await reader.cancel(reason);
    },
  }, { highWaterMark: 0 });
}
