/** Fuzzes AdmissionReviews from the API server. */
import { sameValue } from "../../../src/base/values/mod.ts";
import { isMap, mapAt, type ValueMap } from "../../../src/base/value.ts";
import { jsonPatch } from "../../../src/kube/mod.ts";
import { ProxyConfigs } from "../../../src/webhook/review/proxy_configs.ts";
import { readJson } from "../../../src/webhook/review/read_json.ts";
import { reviewPod } from "../../../src/webhook/review/review_pod.ts";
import { applyPatch } from "../../support/kube/json_patch.ts";
import { admitted, jsonBytes, responseOf, reviewBytes, webhookInjector } from "../../support/kube/review.ts";
import { type FuzzReader, holds } from "../reader.ts";
import { JSON_WORDS } from "./words.ts";

const decoder = new TextDecoder();
const POD = {
  metadata: { name: "p", labels: { app: "a" }, annotations: {} },
  spec: { containers: [{ name: "a", image: "b" }] },
};

export const REVIEWS: FuzzReader = {
  name: "reviews",
  seeds: [
    reviewBytes(POD),
    reviewBytes(POD, {}, "v1beta1"),
    reviewBytes({
      ...POD,
      spec: {
        containers: [{ name: "istio-proxy", image: "auto" }],
        initContainers: [{ name: "i" }],
        volumes: [{ name: "v" }],
      },
    }),
    jsonBytes({ kind: "AdmissionReview", request: { uid: "u", object: null } }),
  ].map((bytes) => decoder.decode(bytes)),
  words: [
    ...JSON_WORDS,
    ...'"spec":|"containers":[|"name":"istio-proxy"|"hostNetwork":true|"sidecar.istio.io/inject":"false"|"env":[]|"ports":[{"containerPort":80}]|"operation":"DELETE"|"dryRun":true|"uid":|"annotations":{"sidecar.istio.io/status":"{}"}|"restartPolicy":"Always"'
      .split("|"),
  ],
  open() {
    const context = {
      injector: webhookInjector(),
      path: "/inject",
      proxyConfigs: new ProxyConfigs([]),
      namespace: () => undefined,
    };
    return (input) => {
      const answer = reviewPod(input, context);
      holds(answer.defect === undefined, `the answer is of a defect: ${answer.defect}`);
      const response = responseOf(answer);
      holds(typeof response["allowed"] === "boolean", "the answer has no verdict");
      holds(typeof response["uid"] === "string", "the answer has no uid");
      if (answer.result === "failed") return false;
      if (answer.result === "injected") checkPatch(input, answer);
      return true;
    };
  },
};

/** Checks that the patch applies, and that a patch between the two pods turns each one into the other. */
function checkPatch(input: Uint8Array, answer: ReturnType<typeof reviewPod>): void {
  const review = readJson(input);
  const pod: ValueMap = mapAt(mapAt(isMap(review) ? review : {}, "request"), "object");
  const after = admitted(pod, answer);
  holds(!sameValue(pod, after), "the patch changes nothing");
  holds(sameValue(applyPatch(pod, jsonPatch(pod, after)), after), "the patch makes another pod");
  holds(sameValue(applyPatch(after, jsonPatch(after, pod)), pod), "the patch back makes another pod");
}
