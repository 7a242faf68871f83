/** The answer to one review, whatever it holds. */
import { errorLine, MeshError } from "../../core/errors.ts";
import { isMap, mapAt, newMap, textAt, type Value, type ValueMap } from "../../core/value.ts";
import { InjectionError, metadataOf } from "../../inject/mod.ts";
import type { ReviewContext } from "./context.ts";
import { injectCreatedPod, type PodOutcome } from "./pod_injection.ts";
import { readJson } from "./read_json.ts";
import { type AdmissionRequest, identityOf, readRequest } from "./request.ts";
import { responseText } from "./response.ts";
import { ReviewError } from "./review_error.ts";

/** What became of a review. */
export type ReviewResult = "injected" | "skipped" | "unchanged" | "failed";

/** The answer to a review, and what logs and metrics tell of it. */
export interface Answered {
  /** The AdmissionReview to send: text, or UTF-8 where it comes from another process. */
  readonly body: string | Uint8Array<ArrayBuffer>;
  readonly result: ReviewResult;
  /**
   * A stable id. Beside those of `inject`: `other-kind`, `other-operation`, `other-subresource` (skipped), and
   * `invalid-review`, `too-large`, `internal-error` (failed).
   */
  readonly reason: string;
  /** For whoever creates the pod. That of a failure may quote the pod: it is not for logs at info. */
  readonly message: string;
  readonly warnings: readonly string[];
  readonly uid: string;
  readonly namespace: string;
  /** The pod's name, or what its name will begin with. */
  readonly name: string;
  readonly dryRun: boolean;
  /** Where something was thrown that is a defect of this program (`internal-error`); nothing of the pod. */
  readonly defect?: string;
}

/** The answer of this process. */
export interface Reviewed extends Answered {
  readonly body: string;
}

/**
 * Answers a review. Pods that are created are injected if the configuration and the pod say so; everything else is let
 * through as it is. What fails is an answer too: it refuses the pod and says why, as Istio's does. Throws nothing.
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

/** Names in logs: no longer than Kubernetes allows, and nothing that would begin a line of its own. */
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

/** Without its message, which may quote the pod. */
function stackOf(defect: unknown): string {
  if (!(defect instanceof Error)) return typeof defect;
  const places = defect.stack?.split("\n").filter((line) => line.startsWith("    at ")) ?? [];
  return [defect.name, ...places.slice(0, 3).map((line) => line.trim())].join(" ");
}

/** The answer to a review that twice ended the process that had it. */
export function lostReview(body: Uint8Array): Reviewed {
  let review: Value = null;
  try {
    review = readJson(body);
  } catch {
    // Then it is answered without what cannot be read.
  }
  return { ...refused(review, undefined), defect: "the process that answers ended, or had no answer in time" };
}

const DEFECT = { reason: "internal-error", message: "The pod cannot be injected because of a defect of the injector" };

function refusal(error: MeshError): { readonly reason: string; readonly message: string } {
  const known = error instanceof InjectionError || error instanceof ReviewError;
  const { field = "" } = error.place ?? {};
  const { message, hint } = error;
  return { reason: known ? error.reason : "failed", message: errorLine({ message, place: { field }, hint }) };
}

/** Why a request is none to create a pod, in the order that they are looked at. */
const OTHERS: readonly (readonly [reason: string, field: string, isOther: (request: AdmissionRequest) => boolean])[] = [
  ["other-operation", "request.operation", ({ operation }) => !["CREATE", ""].includes(operation)],
  ["other-subresource", "request.subResource", ({ subResource }) => subResource !== ""],
  // istioctl kube-inject asks with the kind of the request itself, and a pod that does not name its own.
  ["other-kind", "request.kind.kind", ({ kind }) => !["Pod", "AdmissionRequest", ""].includes(kind)],
];

function skip(request: AdmissionRequest): PodOutcome | undefined {
  const found = OTHERS.find(([, , isOther]) => isOther(request));
  if (found === undefined) return undefined;
  const [reason, field] = found;
  return { result: "skipped", reason, field, message: "it is no creation of a pod", warnings: [], patch: [] };
}

function podOf({ object }: AdmissionRequest): ValueMap {
  if (isMap(object)) return object;
  throw new ReviewError("invalid-review", "The review has no pod: its object is no mapping", {
    place: { field: "request.object" },
  });
}
