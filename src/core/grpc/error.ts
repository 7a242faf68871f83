import { type ErrorDetails, MeshError, messageOf } from "../errors.ts";
import { DialError, type DialStage } from "../world/mod.ts";
import { CODE, codeName, type Status } from "./status.ts";

/** How far a call came: `status` is an answer of the server, or none in time; `protocol` an answer that is not gRPC's. */
export type GrpcStage = DialStage | "status" | "protocol";

/** A call that failed. */
export class GrpcError extends MeshError {
  constructor(readonly code: number, readonly stage: GrpcStage, message: string, details: ErrorDetails = {}) {
    super(message, details);
  }
}

/** What a call was to do, for its errors: `"CreateCertificate" of "istiod.istio-system.svc:15012"`. */
export function callText(method: string, address: string): string {
  return `"${method.slice(method.lastIndexOf("/") + 1)}" of "${address}"`;
}

/** The server's own words. */
export function refused(call: string, { code, message }: Status): GrpcError {
  const words = message === "" ? "" : `: ${message}`;
  return new GrpcError(code, "status", `The server refused ${call} with ${codeName(code)} (${code})${words}`);
}

/** There is no connection: gRPC's code for it is Unavailable. */
export function unreachable(error: unknown): GrpcError {
  if (error instanceof GrpcError) return error;
  const stage = error instanceof DialError ? error.stage : "connection";
  const hint = error instanceof MeshError ? error.hint : undefined;
  return new GrpcError(CODE.Unavailable, stage, messageOf(error), {
    cause: error,
    ...(hint === undefined ? {} : { hint }),
  });
}

/** The signal of a call fired: its time was up, or nobody wants the answer. */
export function aborted(call: string, signal: AbortSignal): GrpcError {
  const isLate = signal.reason instanceof Error && signal.reason.name === "TimeoutError";
  const text = isLate ? `There was no answer to ${call} in time` : `The call of ${call} was ended`;
  return new GrpcError(isLate ? CODE.DeadlineExceeded : CODE.Canceled, "status", text, { cause: signal.reason });
}
