import { type Logger, logText } from "../../platform/log.ts";
import type { Clock, ServedExchange } from "../../platform/world.ts";
import type { Reviewed } from "../review/review_pod.ts";
import { type Client, jsonAnswer, textAnswer } from "../../platform/serving/http.ts";
import { type BodyLimits, type BodyProblem, bodyReader, type ReadBody } from "./read_body.ts";
import type { WebhookMetrics } from "./metrics.ts";

/** Limits for reviews whose body is complete. A review counts toward these limits until its response has been sent. */
export interface AnswerLimits {
  readonly reviews: number;
  /** Maximum bytes of responses that are not sent yet. */
  readonly answerBytes: number;
  /** Milliseconds after which the connection of a client that does not read its response is closed. */
  readonly answerMilliseconds: number;
}

export interface ReviewOptions {
  /** Reviews a request body. `path`: the request's URL path. Never throws. */
  readonly review: (body: Uint8Array, path: string) => Reviewed;
  readonly limits: BodyLimits & AnswerLimits;
  readonly metrics: WebhookMetrics;
  readonly log: Logger;
  readonly clock: Clock;
}

/** Returns the handler for `POST /inject` and paths below. Istio's handler has the same status codes and messages. */
export function reviewHandler(options: ReviewOptions) {
  const { limits, metrics } = options;
  const readBody = bodyReader(limits, options.clock);
  const inFlight: InFlight = { reviews: 0, bytes: 0 };
  let reading = 0;
  metrics.inFlight(() => reading + inFlight.reviews);
  return async (request: Request, path: string, client: Client): Promise<Response> => {
    metrics.requests.add();
    const refused = refusal(request);
    if (refused !== undefined) return refuse(options, refused);
    reading++;
    const body = await arrived(request, client, readBody).finally(() => reading--);
    if (!(body instanceof Uint8Array)) return refuse(options, body);
    if (inFlight.reviews >= limits.reviews || inFlight.bytes > limits.answerBytes) return refuse(options, BUSY);
    return answer({ body, path, client, inFlight }, options);
  };
}

/** Reviews whose response is not sent yet, and the bytes of these responses. */
interface InFlight {
  reviews: number;
  bytes: number;
}

async function arrived(request: Request, { remote }: Client, readBody: ReadBody): Promise<Uint8Array | Refusal> {
  const body = await readBody(request, remote);
  if (typeof body === "string") return BODY_REFUSALS[body];
  return body.length === 0 ? NO_BODY : body;
}

/** The response to a request that is rejected without a review. */
interface Refusal {
  readonly status: number;
  readonly text: string;
  readonly reason: string;
  readonly fields?: Readonly<Record<string, string>>;
}

const BUSY: Refusal = {
  status: 503,
  text: "too many reviews in flight",
  reason: "busy",
  fields: { "retry-after": "1" },
};
const NO_BODY: Refusal = { status: 400, text: "no body found", reason: "no-body" };
const BODY_REFUSALS: Readonly<Record<BodyProblem, Refusal>> = {
  "too large": { status: 413, text: "the body is too large", reason: "body-too-large" },
  "too slow": { status: 408, text: "the body did not arrive in time", reason: "body-too-slow" },
  "broken off": { status: 400, text: "the body ended early", reason: "body-broken-off" },
  "given up": BUSY,
};

function refusal({ method, headers }: Request): Refusal | undefined {
  if (method !== "POST") {
    return { status: 405, text: "method not allowed, want POST", reason: "method", fields: { allow: "POST" } };
  }
  const [type = ""] = (headers.get("content-type") ?? "").split(";");
  if (type.trim().toLowerCase() === "application/json") return encodingRefusal(headers);
  return { status: 415, text: "invalid Content-Type, want `application/json`", reason: "content-type" };
}

/** Rejects compressed bodies. The API server does not compress reviews. */
function encodingRefusal(headers: Headers): Refusal | undefined {
  const encoding = headers.get("content-encoding") ?? "identity";
  if (encoding.trim().toLowerCase() === "identity") return undefined;
  return { status: 415, text: "invalid Content-Encoding, want none", reason: "content-encoding" };
}

/** Rejects a request, and closes the connection, because the rest of the body is not read. */
function refuse({ metrics, log }: ReviewOptions, { status, text, reason, fields }: Refusal): Response {
  metrics.refusals.add({ reason });
  log.debug(logText(`Rejected a request with status ${status}: ${text}`));
  return textAnswer(status, `${text}\n`, { ...fields, connection: "close" });
}

/** A request whose body is complete. */
interface Complete {
  readonly body: Uint8Array;
  readonly path: string;
  readonly client: Client;
  readonly inFlight: InFlight;
}

function answer({ body, path, client, inFlight }: Complete, options: ReviewOptions): Response {
  const { limits, clock, metrics } = options;
  client.exchange?.arrived();
  inFlight.reviews++;
  let held = 0;
  const end = () => {
    inFlight.reviews--;
    inFlight.bytes -= held;
  };
  try {
    const start = clock.monotonic();
    const reviewed = options.review(body, path);
    const milliseconds = clock.monotonic() - start;
    metrics.reviewed(reviewed, milliseconds / 1000);
    logReview(options.log, reviewed, milliseconds);
    held = reviewed.body.length;
    inFlight.bytes += held;
    if (client.exchange === undefined) end();
    else void untilSent(client.exchange, limits.answerMilliseconds, clock).then(end);
    return jsonAnswer(200, reviewed.body);
  } catch (error) {
    end();
    throw error;
  }
}

/** Waits until a response is sent. Closes the connection if the client does not read the response in time. */
async function untilSent(exchange: ServedExchange, milliseconds: number, clock: Clock): Promise<void> {
  const sent = new AbortController();
  void exchange.sent.then(() => sent.abort("sent"));
  await clock.sleep(milliseconds, sent.signal);
  if (sent.signal.aborted) return;
  exchange.close();
  await exchange.sent;
}

/** Logs name and reason. Logs the message only at debug level, because it may quote the pod. */
function logReview(log: Logger, reviewed: Reviewed, milliseconds: number): void {
  const { result, reason, namespace, name, dryRun } = reviewed;
  const subject = `pod "${namespace}/${name}"${dryRun ? " (dry run)" : ""}`;
  if (result === "failed") log.warn(logText(`Review of ${subject} failed: ${reason}`));
  if (log.isEnabledFor("debug")) {
    log.debug(
      logText(`Review of ${subject}: ${result}, ${reason}, ${milliseconds.toFixed(1)} ms; ${reviewed.message}`),
    );
  }
  if (reviewed.defect !== undefined) log.error(logText(`Internal error: ${reviewed.defect}`));
}
