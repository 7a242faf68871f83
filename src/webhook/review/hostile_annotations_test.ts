import assert from "node:assert/strict";
import { reviewBytes, webhookInjector } from "../../../test/support/kube/review.ts";
import { ANNOTATION, OTHER_ANNOTATIONS } from "../../istio/annotations/names.ts";
import { reviewPod } from "./review_pod.ts";

/** Kubernetes allows 256 KiB of annotations (validation.TotalAnnotationSizeLimitB). */
const LENGTH = 120_000;
const HOSTILE: Readonly<Record<string, string>> = {
  "spaces between letters": `a${" ".repeat(LENGTH)}b`,
  "line breaks": `a${"\n".repeat(LENGTH)}b`,
  "carriage returns": `a${"\r".repeat(LENGTH)}b`,
  "digits": "1".repeat(LENGTH),
  "commas": ",".repeat(LENGTH),
  "items": "a,".repeat(LENGTH / 2),
  "slashes": "/".repeat(LENGTH),
  "brackets": "[".repeat(LENGTH),
  "JSON objects": '{"a":'.repeat(LENGTH / 5),
  "YAML keys": "a: ".repeat(LENGTH / 3),
  "template actions": "{{ ".repeat(LENGTH / 3),
};
/** A review blocks the event loop. Reviews take less than a second, but the machine of the test may be busy. */
const MAX_MILLISECONDS = 5000;

const injector = webhookInjector();

for (const [what, value] of Object.entries(HOSTILE)) {
  Deno.test(`no annotation of ${LENGTH} characters holds up a review: ${what}`, () => {
    for (const name of [...Object.values(ANNOTATION), ...OTHER_ANNOTATIONS]) {
      const pod = {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: "web", annotations: { [name]: value } },
        spec: { containers: [{ name: "app", image: "nginx" }] },
      };
      const start = performance.now();
      const { body } = reviewPod(reviewBytes(pod), { injector, path: "/inject" });
      const took = performance.now() - start;
      assert.ok(took < MAX_MILLISECONDS, `${name}: ${Math.round(took)} ms`);
      assert.ok(body.length > 0);
    }
  });
}

Deno.test("the containers of a pod that is not injected do not hold up a review", () => {
  const pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "web", labels: { "sidecar.istio.io/inject": "false" } },
    spec: { containers: Array.from({ length: 20_000 }, (_, index) => ({ name: `c${index}`, image: "auto" })) },
  };
  const start = performance.now();
  assert.equal(reviewPod(reviewBytes(pod), { injector, path: "/inject" }).result, "skipped");
  const took = performance.now() - start;
  assert.ok(took < MAX_MILLISECONDS, `${Math.round(took)} ms`);
});
