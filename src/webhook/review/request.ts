/** The request in an AdmissionReview. Source: k8s.io/api/admission/v1 and v1beta1, which are the same here. */
import { type ErrorDetails, MeshError } from "../../base/errors.ts";
import { isMap, mapAt, textAt, type Value, type ValueMap } from "../../base/value.ts";

/** An unreadable review. The reason is for metrics and logs: `invalid-review`, `too-large` or `invalid-manifest`. */
export class ReviewError extends MeshError {
  constructor(readonly reason: string, message: string, details: ErrorDetails = {}) {
    super(message, details);
  }
}

/** The fields of a request that decide. An absent field is `""`. */
export interface AdmissionRequest {
  readonly operation: string;
  /** The kind of the object itself, else the kind in the request. */
  readonly kind: string;
  readonly subResource: string;
  readonly namespace: string;
  /** `null` if absent. */
  readonly object: Value;
}

/** What the response repeats; also an unreadable review may have it. */
export interface ReviewIdentity {
  /** `undefined` for an unknown version. */
  readonly apiVersion: string | undefined;
  readonly uid: string;
}

const VERSIONS = ["admission.k8s.io/v1", "admission.k8s.io/v1beta1"];

/** Version and uid of a review, as far as they can be read. */
export function identityOf(review: Value): ReviewIdentity {
  if (!isMap(review)) return { apiVersion: undefined, uid: "" };
  const apiVersion = textAt(review, "apiVersion");
  return {
    apiVersion: VERSIONS.includes(apiVersion) ? apiVersion : undefined,
    uid: textAt(mapAt(review, "request"), "uid"),
  };
}

/** Reads a review. Errors: a `ReviewError` for another object, or a review without a request. */
export function readRequest(review: Value): AdmissionRequest {
  if (!isMap(review)) throw invalid("it is not a mapping");
  const kind = textAt(review, "kind");
  const apiVersion = textAt(review, "apiVersion");
  if (kind !== "AdmissionReview" || !VERSIONS.includes(apiVersion)) {
    throw invalid(
      `it is "${shown(kind)}" of "${shown(apiVersion)}"`,
      `Send an AdmissionReview of ${VERSIONS.join(" or ")}`,
    );
  }
  const request = review["request"];
  if (!isMap(request)) throw invalid("it has no request");
  return requestOf(request);
}

function requestOf(request: ValueMap): AdmissionRequest {
  const object = request["object"] ?? null;
  const own = isMap(object) ? textAt(object, "kind") : "";
  return {
    operation: textAt(request, "operation"),
    kind: own === "" ? textAt(mapAt(request, "kind"), "kind") : own,
    subResource: textAt(request, "subResource"),
    namespace: textAt(request, "namespace"),
    object,
  };
}

function invalid(why: string, hint?: string): ReviewError {
  return new ReviewError(
    "invalid-review",
    `Cannot answer this review: ${why}`,
    hint === undefined ? {} : { hint },
  );
}

const MAX_SHOWN = 60;

function shown(text: string): string {
  return text.slice(0, MAX_SHOWN);
}
