/** Relays HTTP/2 calls to istiod, in order to add headers or health reports. Does not parse responses. */
import { MeshError } from "../../base/errors.ts";
import type { HttpConnection } from "../../platform/mod.ts";
import { readToken } from "../identity/token.ts";
import { BodyCounter } from "./message_counter.ts";
import { requestForm } from "./report_message.ts";
import { reporting } from "./reporting.ts";
import { connectUpstream, problemOf, type UpstreamContext } from "./upstream.ts";

const UNAVAILABLE = "14";

/**
 * Streams istiod's response to Envoy's call; each call has its own connection. `calls` contains the calls with a
 * connection and the calls that wait for one. Never rejects: a failure becomes a gRPC status. Trailers are not relayed, so
 * a call that istiod ends after its headers has no status, and Envoy reconnects.
 */
export async function relay(
  upstream: UpstreamContext,
  request: Request,
  { calls, max }: { readonly calls: Set<Request>; readonly max: number },
): Promise<Response> {
  try {
    if (calls.size >= max) throw new MeshError(`Too many concurrent calls to istiod: the limit is ${max}`);
    calls.add(request);
    const client = await connected(upstream).catch((error) => {
      calls.delete(request);
      throw error;
    });
    client.ended.then(() => calls.delete(request));
    return await answerOf(upstream, client, request);
  } catch (error) {
    const message = encodeURIComponent(problemOf(error));
    return new Response(null, {
      headers: { "content-type": "application/grpc", "grpc-status": UNAVAILABLE, "grpc-message": message },
    });
  }
}

async function connected(upstream: UpstreamContext): Promise<HttpConnection> {
  const client = await upstream.world.network.http(await connectUpstream(upstream), "h2");
  upstream.signal.addEventListener("abort", client.close, { once: true });
  client.ended.then(() => upstream.signal.removeEventListener("abort", client.close));
  return client;
}

async function answerOf(upstream: UpstreamContext, client: HttpConnection, request: Request): Promise<Response> {
  const { options, connection } = upstream;
  const { pathname, search } = new URL(request.url);
  const { method, signal } = request;
  const sent = reportingOf(upstream, pathname, request);
  const [requests, responses] = [new BodyCounter(), new BodyCounter()];
  const countRequests = (bytes: Uint8Array) => options.metrics?.requested(requests.count(bytes));
  const body = observedBody(sent?.body ?? request.body, countRequests, () => {});
  const ended: Ended = (by, error) => {
    sent?.stop();
    client.close();
    const isBroken = error !== undefined && !signal.aborted;
    connection.ended(isBroken ? problemOf(error) : undefined);
    if (!upstream.signal.aborted) options.metrics?.connectionEnded(signal.aborted ? "envoy" : by, isBroken);
  };
  try {
    const headers = await headersOf(upstream, request);
    const response = await client.request(options.address, pathname + search, { method, headers, body, signal });
    const { status, headers: given } = response;
    const countResponses = (bytes: Uint8Array) => options.metrics?.responded(responses.count(bytes));
    const received = observedBody(response.body, countResponses, ended);
    const isRead = received !== null && upstream.modules !== undefined && requestForm(pathname) !== undefined;
    const answer = isRead ? await upstream.modules.localized(received, pathname) : received;
    return new Response(answer, { status, headers: given });
  } catch (error) {
    ended("istiod", error);
    throw error;
  }
}

function reportingOf({ options: { reports } }: UpstreamContext, path: string, { body }: Request) {
  const form = requestForm(path);
  if (reports === undefined || form === undefined || body === null) return undefined;
  return reporting(body, form, reports);
}

async function headersOf({ world, options }: UpstreamContext, request: Request): Promise<Headers> {
  const { identity, tls, tokenFile = "" } = options;
  const headers = new Headers(request.headers);
  const token = identity === undefined && tls !== undefined ? await readToken(world.files, tokenFile) : undefined;
  if (token !== undefined) headers.set("authorization", `Bearer ${token.text}`);
  for (const [name, value] of Object.entries(options.headers)) headers.set(name, value);
  return headers;
}

type Ended = (by: "istiod" | "envoy", error?: unknown) => void;

/** Returns a body that shows its bytes, and calls `ended` when it ends, fails or is canceled. */
function observedBody<Bytes extends Uint8Array>(
  body: ReadableStream<Bytes> | null,
  seen: (bytes: Uint8Array) => void,
  ended: Ended,
): ReadableStream<Bytes> | null {
  if (body === null) {
    ended("istiod");
    return null;
  }
  const reader = body.getReader();
  return new ReadableStream({
    async pull(controller) {
      try {
        const { value, done } = await reader.read();
        if (!done) {
          seen(value);
          return controller.enqueue(value);
        }
        controller.close();
        ended("istiod");
      } catch (error) {
        controller.error(error);
        ended("istiod", error);
      }
    },
    async cancel(reason) {
      ended("envoy");
      await reader.cancel(reason);
    },
  }, { highWaterMark: 0 });
}
