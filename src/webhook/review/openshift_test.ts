import assert from "node:assert/strict";
import type { KubeObject } from "../../kube/client/api.ts";
import type { Value, ValueMap } from "../../base/value.ts";
import { admitted, reviewBytes, webhookInjector } from "../../../test/support/kube/review.ts";
import { reviewPod } from "./review_pod.ts";

const RANGE = "openshift.io/sa.scc.uid-range";
const CONFIG = `templates:
  sidecar: |
    spec:
      containers: [{name: istio-proxy, image: p, securityContext: {runAsUser: {{ .ProxyUID }}, runAsGroup: {{ .ProxyGID }}}}]
`;

function namespace(name: string): KubeObject | undefined {
  return { apiVersion: "v1", kind: "Namespace", metadata: { name, annotations: { [RANGE]: "1000/100" } } };
}

function userOfProxy(object: ValueMap, env: Record<string, string>, find: typeof namespace): string {
  const injector = webhookInjector(CONFIG, env);
  const answer = reviewPod(reviewBytes(object), { injector, path: "/inject", namespace: find });
  const text = JSON.stringify(
    admitted(object, answer),
    (_, value) => typeof value === "bigint" ? Number(value) : value,
  );
  const { containers } = JSON.parse(text).spec;
  const proxy = containers.find(({ name }: { name: string }) => name === "istio-proxy");
  return `${proxy.securityContext.runAsUser} ${proxy.securityContext.runAsGroup}`;
}

const container = (name: string, runAsUser: number) => ({ name, image: "auto", securityContext: { runAsUser } });
const openshift = { PLATFORM: "openshift" };
const podOf = (...containers: Value[]): ValueMap => ({ kind: "Pod", metadata: { name: "p" }, spec: { containers } });

Deno.test("on OpenShift the proxy has the last user of its namespace, elsewhere Istio's", () => {
  const pod = podOf(container("app", 1000));
  assert.equal(userOfProxy(pod, openshift, namespace), "1099 1099");
  assert.equal(userOfProxy(pod, openshift, () => undefined), "1337 1337");
  assert.equal(userOfProxy(pod, {}, namespace), "1337 1337");
});

Deno.test("on OpenShift a proxy user equal to the application's is removed", () => {
  assert.equal(
    userOfProxy(podOf(container("app", 1000), container("istio-proxy", 1000)), openshift, namespace),
    "1099 1099",
  );
  assert.equal(
    userOfProxy(podOf(container("app", 1000), container("istio-proxy", 1001)), openshift, namespace),
    "1001 1099",
  );
  assert.equal(userOfProxy(podOf(container("app", 1000), container("istio-proxy", 1000)), {}, namespace), "1000 1337");
});
