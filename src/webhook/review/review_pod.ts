/** Answers one review. Every input gets an answer. */
import { errorLine, MeshError } from "../../base/errors.ts";
import { isMap, mapAt, newMap, textAt, type Value, type ValueMap } from "../../base/value.ts";
import { InjectionError, metadataOf } from "../../inject/mod.ts";
import { injectCreatedPod, type PodOutcome, type ReviewContext } from "./pod_injection.ts";
import { readJson } from "./read_json.ts";
import { type AdmissionRequest, identityOf, readRequest, ReviewError } from "./request.ts";
import { responseText } from "./response.ts";

/**
 * The answer to a review, with the data for logs and metrics. `reason` is one of `inject`'s IDs; for skipped reviews also
 * `other-kind`, `other-operation` or `other-subresource`; for failed reviews also `invalid-review`, `too-large` or
 * `internal-error`. `message` may quote the pod, so it is logged only at debug level.
 */
export interface Reviewed extends Pick<PodOutcome, "reason" | "message" | "warnings"> {
  /** The AdmissionReview with the response, as JSON. */
  readonly body: string;
  readonly result: PodOutcome["result"] | "failed";
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly dryRun: boolean;
  /** Stack trace of an `internal-error`, without data of the pod. */
  readonly defect?: string;
}

/**
 * Answers a review. Injects a new pod if its fields and the configuration require it, and allows all other objects
 * unchanged. A failure denies the pod with the error message, as in Istio. Never throws.
 */
export function reviewPod(body: Uint8Array, context: ReviewContext): Reviewed {
  let review: Value = null;
  try {
    review = readJson(body);
    const request = readRequest(review);
    return reviewed(review, skip(request) ?? injectCreatedPod(podOf(request), request.namespace, context));
  } catch (error) {
    return refused(review, error);
  }
}

/** Maximum length of a name in logs, which is Kubernetes' limit for names. */
const MAX_NAME = 253;

function shown(name: string): string {
  return name.slice(0, MAX_NAME).replaceAll(/[^!-~]/g, "?");
}

function subject(review: Value): Pick<Reviewed, "uid" | "namespace" | "name" | "dryRun"> {
  const request = mapAt(isMap(review) ? review : newMap(), "request");
  const metadata = metadataOf(mapAt(request, "object"));
  const name = textAt(metadata, "name") || textAt(metadata, "generateName") || textAt(request, "name");
  const namespace = textAt(metadata, "namespace") || textAt(request, "namespace");
  return {
    uid: shown(identityOf(review).uid),
    namespace: shown(namespace),
    name: shown(name),
    dryRun: request["dryRun"] === true,
  };
}

function reviewed(review: Value, { result, reason, message, warnings, patch }: PodOutcome): Reviewed {
  const body = responseText(identityOf(review), { allowed: true, patch, warnings });
  return { body, result, reason, message, warnings, ...subject(review) };
}

function refused(review: Value, error: unknown): Reviewed {
  const { reason, message } = error instanceof MeshError ? refusal(error) : DEFECT;
  const body = responseText(identityOf(review), { allowed: false, message });
  const answer: Reviewed = { body, result: "failed", reason, message, warnings: [], ...subject(review) };
  return error instanceof MeshError ? answer : { ...answer, defect: stackOf(error) };
}

/** Returns the stack trace without the error message, which may quote the pod. */
function stackOf(defect: unknown): string {
  if (!(defect instanceof Error)) return typeof defect;
  const places = defect.stack?.split("\n").filter((line) => line.startsWith("    at ")) ?? [];
  return [defect.name, ...places.slice(0, 3).map((line) => line.trim())].join(" ");
}

const DEFECT = {
  reason: "internal-error",
  message: "The pod cannot be injected because of an internal error of the injector",
};

function refusal(error: MeshError): { readonly reason: string; readonly message: string } {
  const known = error instanceof InjectionError || error instanceof ReviewError;
  const { field = "" } = error.place ?? {};
  const { message, hint } = error;
  return { reason: known ? error.reason : "failed", message: errorLine({ message, place: { field }, hint }) };
}

/** Reasons why a request does not create a pod. The first one that applies is reported. */
const OTHERS: readonly (readonly [reason: string, field: string, isOther: (request: AdmissionRequest) => boolean])[] = [
  ["other-operation", "request.operation", ({ operation }) => !["CREATE", ""].includes(operation)],
  ["other-subresource", "request.subResource", ({ subResource }) => subResource !== ""],
  // istioctl kube-inject sends the kind AdmissionRequest in the request, and a pod without a kind.
  ["other-kind", "request.kind.kind", ({ kind }) => !["Pod", "AdmissionRequest", ""].includes(kind)],
];

function skip(request: AdmissionRequest): PodOutcome | undefined {
  const found = OTHERS.find(([, , isOther]) => isOther(request));
  if (found === undefined) return undefined;
  const [reason, field] = found;
  return { result: "skipped", reason, field, message: "the request does not create a pod", warnings: [], patch: [] };
}

function podOf({ object }: AdmissionRequest): ValueMap {
  if (isMap(object)) return object;
  throw new ReviewError("invalid-review", "The review does not contain a pod", {
    place: { field: "request.object" },
  });
}
