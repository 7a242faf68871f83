import assert from "node:assert/strict";
import type { Value } from "../../../base/value.ts";
import type { KubeObject } from "../../../kube/client/mod.ts";
import { clusterInventory, type ClusterOptions, object } from "../../../../test/support/kube/cluster.ts";
import { findingFor } from "../../../../test/support/kube/finding.ts";
import { meshObjects } from "../../../../test/support/kube/mesh_webhooks.ts";
import { shownText } from "../../../../test/support/kube/shown.ts";

const MESH = meshObjects().filter(({ kind }) => /Configuration|ConfigMap/.test(kind));
const NAMESPACES = [
  object("v1", "Namespace", "shop", { metadata: { labels: { "istio-injection": "enabled" } } }),
  object("v1", "Namespace", "plain"),
];
const APP = { name: "app", image: "app", ports: [{ name: "main", containerPort: 8080 }] };
const PROXY = { name: "istio-proxy", image: "proxyv2" };

function pod(name: string, containers: Value[] = [APP, PROXY]): KubeObject {
  return object("v1", "Pod", name, { metadata: { labels: { app: "web", tier: "front" } }, spec: { containers } });
}

function service(name: string, port: Record<string, Value>, annotations: Record<string, string> = {}): KubeObject {
  const spec = { selector: { app: "web" }, ports: [{ port: 80, ...port }] };
  return object("v1", "Service", name, { metadata: { annotations }, spec });
}

async function found(objects: readonly KubeObject[], options: ClusterOptions = {}) {
  const inventory = clusterInventory({ objects: [...MESH, ...NAMESPACES, ...objects], ...options });
  const finding = await findingFor("workload-services", inventory);
  return { ...finding, text: await shownText(finding) };
}

const PLAIN_NAME = service("shop/web", { name: "web" });
const NEARLY = { name: "httpapi" };
const NEAR = service("shop/web", NEARLY);
const HTTP = service("shop/web", { name: "http-web", targetPort: "main" });
const TCP = service("shop/raw", { name: "tcp-web", targetPort: 8080 });

interface Row {
  readonly name: string;
  readonly objects: readonly KubeObject[];
  readonly result: string;
  readonly says: RegExp;
}

const ROWS: readonly Row[] = [
  { name: "the protocol is named", objects: [pod("shop/web"), HTTP], result: "ok", says: /^$/ },
  {
    name: "by appProtocol",
    objects: [pod("shop/web"), service("shop/web", { appProtocol: "grpc" })],
    result: "ok",
    says: /^$/,
  },
  {
    name: "no protocol is named: the proxy finds out, as it may (IST0118 is an information)",
    objects: [pod("shop/web"), PLAIN_NAME],
    result: "ok",
    says:
      /^worth knowing: service\/shop\/web: spec\.ports\[0\]: the name "web" of the port 80 does not select a protocol/,
  },
  {
    name: "a name that nearly names one",
    objects: [pod("shop/web"), NEAR],
    result: "warning",
    says:
      /^service\/shop\/web: .*"httpapi" .* starts with "http" without a following "-".*\nfix: rename the port to "http-80", or /,
  },
  {
    name: "two Services with protocols that differ",
    objects: [pod("shop/web"), HTTP, TCP],
    result: "error",
    says:
      /^service\/shop\/\w+: .*set different protocols for one port: http \(port 80\) and tcp \(port 80\).*\nfix: .*\nkubectl edit service/,
  },
  {
    name: "one port for TCP and UDP",
    objects: [pod("shop/web"), HTTP, service("shop/udp", { name: "udp-web", protocol: "UDP" })],
    result: "error",
    says: /set different protocols for one port: TCP \(port 80\) and UDP \(port 80\)/,
  },
  {
    name: "two ports for one port of the pods: one proxy listener serves both",
    objects: [pod("shop/web"), HTTP, service("shop/other", { name: "http-web", port: 81, targetPort: 8080 })],
    result: "ok",
    says: /worth knowing: service\/shop\/other: .*map the ports 80 and 81 to the same pod port main/,
  },
  {
    name: "pods outside the mesh",
    objects: [pod("plain/web", [APP]), service("plain/web", NEARLY)],
    result: "ok",
    says: /^$/,
  },
  { name: "pods that get a proxy", objects: [pod("shop/web", [APP]), NEAR], result: "warning", says: /httpapi/ },
  { name: "a gateway's Service", objects: [pod("shop/web", [PROXY]), NEAR], result: "ok", says: /^$/ },
  {
    name: "a Service of another namespace",
    objects: [pod("shop/web"), service("plain/web", NEARLY)],
    result: "ok",
    says: /^$/,
  },
  {
    name: "switched off",
    objects: [pod("shop/web"), service("shop/web", NEARLY, { "off.kubectl-mesh/port-name": "old" })],
    result: "ok",
    says: /^$/,
  },
  { name: "no pods", objects: [NEAR], result: "ok", says: /^$/ },
];

for (const { name, objects, result, says } of ROWS) {
  Deno.test(`Services of mesh pods: ${name}`, async () => {
    const finding = await found(objects);
    assert.equal(finding.result, result, finding.text);
    assert.match(finding.text, says);
  });
}

Deno.test("Services of mesh pods: notes are counted, and all their objects are listed", async () => {
  const others = ["a", "b"].map((name) => service(`shop/${name}`, { name: "web", port: 90 }));
  const { message = "", objects } = await found([pod("shop/web"), PLAIN_NAME, ...others]);
  assert.match(message, /, and \d more like it$/);
  assert.deepEqual([...objects ?? []].sort(), ["service/shop/a", "service/shop/b", "service/shop/web"]);
});

Deno.test("Services of mesh pods: a result that depends on a missing right is unknown", async () => {
  const webhooks = /webhookconfigurations/;
  const unknown = { result: "unknown", missingRight: "list on mutatingwebhookconfigurations" };
  const outcome = async (objects: readonly KubeObject[], forbidden: RegExp) => {
    const { result, missingRight } = await found(objects, { forbidden });
    return missingRight === undefined ? { result } : { result, missingRight };
  };
  assert.deepEqual(await outcome([pod("shop/web", [APP]), NEAR], webhooks), unknown);
  assert.deepEqual(await outcome([pod("shop/web"), NEAR], webhooks), { result: "warning" });
  assert.deepEqual(await outcome([pod("shop/a"), pod("shop/b", [APP]), PLAIN_NAME], webhooks), unknown);
  assert.deepEqual(await outcome([pod("shop/web", [APP]), HTTP], webhooks), { result: "ok" });
  const services = await outcome([pod("shop/web"), HTTP], /\/services$/);
  assert.deepEqual(services, { result: "unknown", missingRight: "list on services" });
  assert.deepEqual(await outcome([], /\/pods/), { result: "unknown", missingRight: "list on pods" });
});

Deno.test("Services of mesh pods: without selected pods the check is skipped", async () => {
  const selector = { text: "app=x", matchExpressions: [{ key: "app", operator: "In", values: ["x"] }] };
  const inventory = clusterInventory({ objects: [...MESH, ...NAMESPACES, pod("shop/web"), NEAR] }, { selector });
  assert.equal((await findingFor("workload-services", inventory)).result, "skipped");
});
