import { type Logger, logText } from "../../core/log.ts";
import type { Clock } from "../../core/world/world.ts";
import type { Answered } from "../review/review_pod.ts";
import { jsonAnswer, textAnswer } from "./http.ts";
import { type BodyLimits, type BodyProblem, readBody, type Room, roomsOf } from "./read_body.ts";
import type { WebhookMetrics } from "./metrics.ts";

/** What the handler needs. */
export interface ReviewOptions {
  /** Answers the bytes of a review at a path. Throws nothing. */
  readonly review: (body: Uint8Array, path: string) => Answered | Promise<Answered>;
  readonly limits: BodyLimits & { readonly reviews: number; readonly bytesInFlight: number };
  readonly metrics: WebhookMetrics;
  readonly log: Logger;
  readonly clock: Clock;
}

/** Answers `POST /inject` and the paths below it, with the texts and codes of Istio's serveInject. */
export function reviewHandler(options: ReviewOptions) {
  const { limits, metrics } = options;
  const roomFor = roomsOf(limits.bytesInFlight);
  let inFlight = 0;
  metrics.inFlight(() => inFlight);
  return async (request: Request, path: string): Promise<Response> => {
    metrics.requests.add();
    const refused = refusal(request) ?? (inFlight >= limits.reviews ? BUSY : undefined);
    if (refused !== undefined) return refuse(options, refused);
    const room = roomFor();
    inFlight++;
    try {
      return await answer(request, path, options, room);
    } finally {
      inFlight--;
      room.leave();
    }
  };
}

/** The answer to a request without a review. */
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
  "no room": BUSY,
};

function refusal({ method, headers }: Request): Refusal | undefined {
  if (method !== "POST") {
    return { status: 405, text: "method not allowed, want POST", reason: "method", fields: { allow: "POST" } };
  }
  const [type = ""] = (headers.get("content-type") ?? "").split(";");
  if (type.trim().toLowerCase() === "application/json") return undefined;
  return { status: 415, text: "invalid Content-Type, want `application/json`", reason: "content-type" };
}

/** Closes the connection: the rest of the body is not read. */
function refuse({ metrics, log }: ReviewOptions, { status, text, reason, fields }: Refusal): Response {
  metrics.refusals.add({ reason });
  log.debug(logText(`Refused a request with ${status}: ${text}`));
  return textAnswer(status, `${text}\n`, { ...fields, connection: "close" });
}

async function answer(request: Request, path: string, options: ReviewOptions, room: Room): Promise<Response> {
  const { limits, clock, metrics } = options;
  const body = await readBody(request, limits, { clock, room });
  if (typeof body === "string") return refuse(options, BODY_REFUSALS[body]);
  if (body.length === 0) return refuse(options, NO_BODY);
  const start = clock.monotonic();
  const reviewed = await options.review(body, path);
  const milliseconds = clock.monotonic() - start;
  metrics.reviewed(reviewed, milliseconds / 1000);
  logReview(options.log, reviewed, milliseconds);
  return jsonAnswer(200, reviewed.body);
}

/** Logs names and reasons; the message, which quotes the pod, only with debug. */
function logReview(log: Logger, reviewed: Answered, milliseconds: number): void {
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
