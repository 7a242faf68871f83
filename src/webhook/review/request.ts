/** Reads the request of an AdmissionReview. Source: k8s.io/api/admission/v1 and v1beta1, whose fields agree here. */
import { type ErrorDetails, MeshError } from "../../base/errors.ts";
import { isMap, mapAt, textAt, type Value } from "../../base/value.ts";

/** Thrown for an unreadable review. `reason` is for metrics and logs: `invalid-review`, `too-large` or `invalid-manifest`. */
export class ReviewError extends MeshError {
  constructor(readonly reason: string, message: string, details: ErrorDetails = {}) {
    super(message, details);
  }
}

/** The fields of a request that the webhook reads. A missing field is `""`. */
export interface AdmissionRequest {
  readonly operation: string;
  /** The kind in the object, or the kind in the request if the object does not set one. */
  readonly kind: string;
  readonly subResource: string;
  readonly namespace: string;
  /** The object to admit; `null` if it is missing. */
  readonly object: Value;
}

/** The fields that the response must repeat. Even an otherwise unreadable review may contain them. */
export interface ReviewIdentity {
  /** API version of the review; `undefined` if the version is unknown. */
  readonly apiVersion: string | undefined;
  readonly uid: string;
}

const VERSIONS = ["admission.k8s.io/v1", "admission.k8s.io/v1beta1"];

/** Returns version and UID of a review, as far as they are readable. */
export function identityOf(review: Value): ReviewIdentity {
  if (!isMap(review)) return { apiVersion: undefined, uid: "" };
  const apiVersion = textAt(review, "apiVersion");
  return {
    apiVersion: VERSIONS.includes(apiVersion) ? apiVersion : undefined,
    uid: textAt(mapAt(review, "request"), "uid"),
  };
}

/** Reads the request of a review. Throws a `ReviewError` if it is not an AdmissionReview, or contains no request. */
export function readRequest(review: Value): AdmissionRequest {
  if (!isMap(review)) throw new ReviewError("invalid-review", "Invalid review: the body is not a JSON object");
  const kind = textAt(review, "kind");
  const apiVersion = textAt(review, "apiVersion");
  if (kind !== "AdmissionReview" || !VERSIONS.includes(apiVersion)) {
    const message = `Invalid review: the body is "${kind.slice(0, MAX_SHOWN)}" of "${apiVersion.slice(0, MAX_SHOWN)}"`;
    throw new ReviewError("invalid-review", message, { hint: `send an AdmissionReview of ${VERSIONS.join(" or ")}` });
  }
  const request = review["request"];
  if (!isMap(request)) throw new ReviewError("invalid-review", "Invalid review: the review has no request");
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

const MAX_SHOWN = 60;
