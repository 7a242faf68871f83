/** The answer to one review, for every input. */
import { errorLine, MeshError } from "../../base/errors.ts";
import { isMap, mapAt, newMap, textAt, type Value, type ValueMap } from "../../base/value.ts";
import { InjectionError, type Injector, metadataOf } from "../../inject/mod.ts";
import { injectCreatedPod, type PodOutcome, type ReviewContext } from "./pod_injection.ts";
import type { Answered, Reviewed } from "./answered.ts";
import type { ReviewMemo } from "./memo/memo.ts";
import { decodeText, parseJson, readJson } from "./read_json.ts";
import { type AdmissionRequest, identityOf, readRequest, ReviewError } from "./request.ts";
import { responseText } from "./response.ts";

export type { Answered, Reviewed };

/**
 * Answers a review. A new pod is injected if configuration and pod say so; all other objects are allowed unchanged. A failure
 * denies the pod with its message, as in Istio. Throws nothing.
 */
export function reviewPod(body: Uint8Array, context: ReviewContext, memo?: ReviewMemo): Reviewed {
  let review: Value = null;
  const answer = (read: Value, injector: Injector) => {
    const request = readRequest(read);
    return reviewed(
      read,
      skip(request) ?? injectCreatedPod(podOf(request), request.namespace, { ...context, injector }),
    );
  };
  try {
    const text = decodeText(body);
    const first = () => answer(review = parseJson(text), context.injector);
    return memo?.answer(text, context, first, answer) ?? first();
  } catch (error) {
    return refused(review, error);
  }
}

/** Names in logs: at most as long as in Kubernetes, without characters that end a line. */
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

/** The stack without the message, which may quote the pod. */
function stackOf(defect: unknown): string {
  if (!(defect instanceof Error)) return typeof defect;
  const places = defect.stack?.split("\n").filter((line) => line.startsWith("    at ")) ?? [];
  return [defect.name, ...places.slice(0, 3).map((line) => line.trim())].join(" ");
}

/** The answer to a review during which two workers ended. */
export function lostReview(body: Uint8Array): Reviewed {
  let review: Value = null;
  try {
    review = readJson(body);
  } catch {
    // The answer has no uid then.
  }
  return { ...refused(review, undefined), defect: "the worker ended, or did not answer in time" };
}

const DEFECT = { reason: "internal-error", message: "The pod cannot be injected: internal error of the injector" };

function refusal(error: MeshError): { readonly reason: string; readonly message: string } {
  const known = error instanceof InjectionError || error instanceof ReviewError;
  const { field = "" } = error.place ?? {};
  const { message, hint } = error;
  return { reason: known ? error.reason : "failed", message: errorLine({ message, place: { field }, hint }) };
}

/** Reasons why a request does not create a pod; the first one counts. */
const OTHERS: readonly (readonly [reason: string, field: string, isOther: (request: AdmissionRequest) => boolean])[] = [
  ["other-operation", "request.operation", ({ operation }) => !["CREATE", ""].includes(operation)],
  ["other-subresource", "request.subResource", ({ subResource }) => subResource !== ""],
  // istioctl kube-inject sends its own kind in the request, and a pod without a kind.
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
  throw new ReviewError("invalid-review", "The review has no pod: its object is not a mapping", {
    place: { field: "request.object" },
  });
}
