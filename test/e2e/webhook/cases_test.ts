/** Istio's cases with a real API server that applies this program's patches. The pods equal Istio's. */
import assert from "node:assert/strict";
import type { Injector } from "../../../src/inject/mod.ts";
import { reviewPod } from "../../../src/webhook/review/review_pod.ts";
import { testCertificate } from "../../support/tls/certificates.ts";
import { podsOf } from "../../support/kube/review.ts";
import { type InjectCase, injectCases, injectorOf } from "../../support/cases/inject.ts";
import { testWhen } from "../../support/test_when.ts";
import { type Cluster, needsCluster, startCluster } from "../support/cluster/cluster.ts";
import { dryRun, held } from "../support/pods.ts";
import { until } from "../../support/until.ts";
import { kubectl, register, triedStatus } from "../support/webhook.ts";
import { createNamespace } from "../support/cluster/requests.ts";

/** A server of reviews. `current` returns the injector. */
function serve(current: () => Injector) {
  const { certificate, key, authority } = testCertificate();
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, cert: certificate, key, onListen: () => {} },
    async (request) => {
      const body = await request.bytes();
      return new Response(reviewPod(body, { injector: current(), path: "/inject" }).body, {
        headers: { "content-type": "application/json" },
      });
    },
  );
  return { port: server.addr.port, authority, stop: () => server.shutdown() };
}

testWhen(needsCluster(), "in an API server, the patches of all cases make the same pods as Istio", async (t) => {
  const cases = await injectCases();
  const [first] = cases;
  assert.ok(first !== undefined);
  let injector = injectorOf(first, false);
  const cluster = await startCluster();
  const server = serve(() => injector);
  let compared = 0;
  try {
    await kubectl(cluster, ["label", "namespace", "default", "istio-injection=enabled"]);
    await createNamespace(cluster, "plain");
    await register(cluster, { port: server.port, authority: server.authority });
    await until(() => isCalled(cluster), "Never: the webhook is called");
    for (const item of cases.filter(({ fails }) => !fails)) {
      injector = injectorOf(item, false);
      await t.step(item.name, async () => void (compared += await compare(cluster, item)));
    }
    assert.ok(compared > cases.length / 2, `only ${compared} pods of ${cases.length} cases could be compared`);
  } finally {
    await server.stop();
    await cluster.stop();
  }
});

async function isCalled(cluster: Cluster): Promise<boolean> {
  const containers = [{ name: "app", image: "example.com/app:1" }];
  const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "probe" }, spec: { containers } };
  return await triedStatus(cluster, pod) !== undefined;
}

/**
 * Whether a case works only for manifests. The API server adds defaults to a user's own proxy container before the
 * webhook sees it, and these defaults count as the user's. Namespaces of cases do not exist here.
 */
function isOfManifestsOnly(manifests: string): boolean {
  return /^ *(- )?name: istio-proxy$/m.test(manifests) || podsOf(manifests).some(({ namespace }) => namespace !== "");
}

/** The number of compared pods: 0 if the API server rejects Istio's own pod. */
async function compare(cluster: Cluster, item: InjectCase): Promise<number> {
  const { input: before, expected: after } = item;
  // The template prints the pod, which has the API server's defaults here.
  if (item.name === "functions of templates" || isOfManifestsOnly(before)) return 0;
  const expected = await dryRun(cluster, after, "plain").catch(() => undefined);
  if (expected === undefined) return 0;
  const found = await dryRun(cluster, before, "default");
  assert.deepEqual(found.map(held), expected.map(held));
  return found.length;
}
