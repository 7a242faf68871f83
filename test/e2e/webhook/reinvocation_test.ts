/** A later webhook adds a container: the API server calls this program's webhook a second time. */
import assert from "node:assert/strict";
import { isMap, mapAt, type Value, type ValueMap } from "../../../src/base/value.ts";
import { testCertificate } from "../../support/tls/certificates.ts";
import { testWhen } from "../../support/test_when.ts";
import { until } from "../../support/until.ts";
import { type Cluster, needsCluster, startCluster } from "../support/cluster/cluster.ts";
import { apply, create, DRY_RUN, kubectl, laterWebhook, register, startWebhook, statusOf } from "../support/webhook.ts";
import { addServiceAccount } from "../support/cluster/requests.ts";

const HELPER = {
  name: "helper",
  image: "example.com/helper:1",
  ports: [{ containerPort: 9000 }],
  readinessProbe: { httpGet: { path: "/healthy", port: 9000 } },
};

testWhen(needsCluster(), "the probe of a container that a later webhook adds goes through the proxy", async () => {
  const cluster = await startCluster();
  const certificate = testCertificate();
  const later = Deno.serve(
    { hostname: "127.0.0.1", port: 0, cert: certificate.certificate, key: certificate.key },
    addHelper,
  );
  const webhook = await startWebhook();
  try {
    await kubectl(cluster, ["create", "namespace", "mesh"]);
    await addServiceAccount(cluster, "mesh");
    await kubectl(cluster, ["label", "namespace", "mesh", "istio-injection=enabled"]);
    await register(cluster, { port: webhook.port, authority: webhook.authority });
    await apply(cluster, laterWebhook("helper.example.com", later.addr.port, certificate.authority));
    const pod = await injectedPod(cluster);
    const containers = containersOf(pod);
    assert.deepEqual(containers.map(({ name }) => name).toSorted(), ["app", "helper", "istio-proxy"]);
    const probe = mapAt(mapAt(named(containers, "helper"), "readinessProbe"), "httpGet");
    assert.deepEqual([probe["path"], probe["port"]], ["/app-health/helper/readyz", 15020]);
    const probers = JSON.parse(variable(named(containers, "istio-proxy"), "ISTIO_KUBE_APP_PROBERS"));
    assert.equal(probers["/app-health/helper/readyz"].httpGet.port, 9000);
    assert.equal(variable(named(containers, "istio-proxy"), "ISTIO_META_APP_CONTAINERS"), "app,helper");
    assert.deepEqual(statusOf(pod)?.["containers"], ["istio-proxy"]);
  } finally {
    await webhook.stop();
    await later.shutdown();
    await cluster.stop();
  }
});

/** Adds the container once. */
async function addHelper(request: Request): Promise<Response> {
  const { apiVersion, kind, request: { uid, object } } = await request.json();
  const isThere = object.spec.containers.some(({ name }: { name: string }) => name === HELPER.name);
  const patch = isThere ? [] : [{ op: "add", path: "/spec/containers/-", value: HELPER }];
  const response = { uid, allowed: true, patchType: "JSONPatch", patch: btoa(JSON.stringify(patch)) };
  return Response.json({ apiVersion, kind, response });
}

/** A pod that both webhooks have seen: the API server learns of new webhooks a little later. */
async function injectedPod(cluster: Cluster): Promise<ValueMap> {
  let made: ValueMap = {};
  await until(async () => {
    const spec = { automountServiceAccountToken: false, containers: [{ name: "app", image: "example.com/app:1" }] };
    const metadata = { name: "web", namespace: "mesh" };
    [made = {}] = await create(cluster, [{ apiVersion: "v1", kind: "Pod", metadata, spec }], DRY_RUN);
    return statusOf(made) !== undefined && containersOf(made).some(({ name }) => name === HELPER.name);
  }, "Never: both webhooks are called");
  return made;
}

function containersOf(pod: ValueMap): ValueMap[] {
  const { containers = [] } = mapAt(pod, "spec");
  return Array.isArray(containers) ? containers.filter(isMap) : [];
}

function named(containers: readonly ValueMap[], name: string): ValueMap {
  return containers.find((each) => each["name"] === name) ?? {};
}

/** The value of an environment variable. */
function variable(container: ValueMap, name: string): string {
  const env: Value = container["env"] ?? [];
  const found = Array.isArray(env) ? env.filter(isMap).find((each) => each["name"] === name) : undefined;
  return String(found?.["value"] ?? "");
}
