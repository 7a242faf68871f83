import assert from "node:assert/strict";
import { ApiError } from "./api.ts";
import { kubeObject } from "./kube_object.ts";

const REVIEW = {
  apiVersion: "authorization.k8s.io/v1",
  kind: "SelfSubjectAccessReview",
  metadata: { creationTimestamp: null },
  status: { allowed: true },
};

Deno.test("the answer to an access review needs no name, as real API servers give none", () => {
  assert.deepEqual(kubeObject(REVIEW, "a review"), { ...REVIEW, metadata: { name: "" } });
});

Deno.test("every other answer needs a name", () => {
  for (const answer of [{ ...REVIEW, kind: "Pod" }, { kind: "Pod", metadata: { name: "web" } }, ["Pod"], null]) {
    assert.throws(() => kubeObject(answer, "GET /pods/web"), ApiError);
  }
});
