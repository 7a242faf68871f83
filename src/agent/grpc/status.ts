/** The status of a call, with gRPC's codes and their names. */

export const CODE = {
  OK: 0,
  Canceled: 1,
  Unknown: 2,
  InvalidArgument: 3,
  DeadlineExceeded: 4,
  NotFound: 5,
  AlreadyExists: 6,
  PermissionDenied: 7,
  ResourceExhausted: 8,
  FailedPrecondition: 9,
  Aborted: 10,
  OutOfRange: 11,
  Unimplemented: 12,
  Internal: 13,
  Unavailable: 14,
  DataLoss: 15,
  Unauthenticated: 16,
} as const;

/** Returns the name of a code, or its number if the code is unknown. */
export function codeName(code: number): string {
  return Object.entries(CODE).find(([, value]) => value === code)?.[0] ?? `Code(${code})`;
}

/** Maps HTTP status codes to gRPC codes, for responses without gRPC's headers (gRPC, http-grpc-status-mapping). */
const OF_HTTP: Readonly<Record<number, number>> = {
  400: CODE.Internal,
  401: CODE.Unauthenticated,
  403: CODE.PermissionDenied,
  404: CODE.Unimplemented,
  429: CODE.Unavailable,
  502: CODE.Unavailable,
  503: CODE.Unavailable,
  504: CODE.Unavailable,
};

export interface Status {
  readonly code: number;
  readonly message: string;
}

/**
 * Returns the status in the headers; `undefined` if the status comes in trailers, which `fetch` does not expose. A
 * refused call has headers only, so its status is visible.
 */
export function statusOf({ status, headers }: Response): Status | undefined {
  const text = headers.get("grpc-status");
  if (text !== null && /^\d{1,3}$/.test(text)) {
    return { code: Number(text), message: decodeMessage(headers.get("grpc-message") ?? "") };
  }
  const isGrpc = (headers.get("content-type") ?? "").startsWith("application/grpc");
  if (status === 200 && isGrpc) return undefined;
  const what = status === 200 ? `the content type "${headers.get("content-type") ?? ""}"` : `the HTTP status ${status}`;
  return { code: OF_HTTP[status] ?? CODE.Unknown, message: `the server returned ${what}, which is not gRPC` };
}

const MAX_TEXT = 1000;

/**
 * Decodes `grpc-message`, which is percent-encoded UTF-8; keeps invalid text unchanged. Removes line breaks, which
 * could forge log lines.
 */
function decodeMessage(text: string): string {
  const clean = (decoded: string) => decoded.replace(/\s+/g, " ").slice(0, MAX_TEXT);
  try {
    return clean(decodeURIComponent(text));
  } catch {
    // A URIError: the text is not percent-encoded.
    return clean(text);
  }
}
