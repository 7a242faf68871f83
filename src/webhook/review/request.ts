/** The request in an AdmissionReview. Source: k8s.io/api/admission/v1 and v1beta1, which are the same here. */
import { isMap, mapAt, textAt, type Value, type ValueMap } from "../../core/value.ts";
import { ReviewError } from "./review_error.ts";

/** What of a request decides. A field that is not there is `""`. */
export interface AdmissionRequest {
  readonly operation: string;
  /** The kind of the object: what it says itself, else what the request says. */
  readonly kind: string;
  readonly subResource: string;
  /** The namespace that the object is created in. */
  readonly namespace: string;
  readonly dryRun: boolean;
  /** The object as it was sent; `null` if there is none. */
  readonly object: Value;
}

/** What the answer has to repeat: known also of a review that cannot be answered otherwise than by an error. */
export interface ReviewIdentity {
  /** `undefined` if the review is of no version that is known. */
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

/** Reads a review. Errors: a ReviewError for what is no review, or one without a request. */
export function readRequest(review: Value): AdmissionRequest {
  if (!isMap(review)) throw invalid("it is no mapping");
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
    dryRun: request["dryRun"] === true,
    object,
  };
}

function invalid(why: string, hint?: string): ReviewError {
  return new ReviewError(
    "invalid-review",
    `This is no review that can be answered: ${why}`,
    hint === undefined ? {} : { hint },
  );
}

const MAX_SHOWN = 60;

function shown(text: string): string {
  return text.slice(0, MAX_SHOWN);
}
