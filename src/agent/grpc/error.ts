import { type ErrorDetails, MeshError, messageOf } from "../../base/errors.ts";
import { DialError, type DialStage } from "../../platform/mod.ts";
import { CODE, codeName, type Status } from "./status.ts";

/**
 * The step that failed. `status`: the server returned an error, or the call timed out. `protocol`: the response is not
 * gRPC.
 */
export type GrpcStage = DialStage | "status" | "protocol";

export class GrpcError extends MeshError {
  constructor(readonly code: number, readonly stage: GrpcStage, message: string, details: ErrorDetails = {}) {
    super(message, details);
  }
}

/** Describes a call in error messages, for example `"CreateCertificate" of "istiod.istio-system.svc:15012"`. */
export function callText(
  { method, endpoint }: { readonly method: string; readonly endpoint: { readonly address: string } },
): string {
  return `"${method.slice(method.lastIndexOf("/") + 1)}" of "${endpoint.address}"`;
}

/** Returns the error for a call that the server refused. */
export function refused(call: string, { code, message }: Status): GrpcError {
  const detail = message === "" ? "" : `: ${message}`;
  return new GrpcError(code, "status", `The server refused ${call} with ${codeName(code)} (${code})${detail}`);
}

/** Returns the error for a failed connection, with the code Unavailable. */
export function unreachable(error: unknown): GrpcError {
  if (error instanceof GrpcError) return error;
  const stage = error instanceof DialError ? error.stage : "connection";
  const hint = error instanceof MeshError ? error.hint : undefined;
  return new GrpcError(CODE.Unavailable, stage, messageOf(error), {
    cause: error,
    ...(hint === undefined ? {} : { hint }),
  });
}

/** Returns the error for a call whose signal fired: a timeout, or a cancellation by the caller. */
export function aborted(call: string, signal: AbortSignal): GrpcError {
  const isLate = signal.reason instanceof Error && signal.reason.name === "TimeoutError";
  const text = isLate ? `There was no answer to ${call} in time` : `The call ${call} was canceled`;
  return new GrpcError(isLate ? CODE.DeadlineExceeded : CODE.Canceled, "status", text, { cause: signal.reason });
}
