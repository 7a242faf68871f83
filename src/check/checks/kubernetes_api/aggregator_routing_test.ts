import assert from "node:assert/strict";
import { clusterInventory, type ClusterOptions, object } from "../../../../test/support/kube/cluster.ts";
import { meshWebhooks } from "../../../../test/support/kube/mesh_webhooks.ts";
import { ApiError, type KubeObject } from "../../../kube/client/mod.ts";
import { isMap } from "../../../base/value.ts";
import { shownText } from "../../../../test/support/kube/shown.ts";
import { judge } from "../../run.ts";
import { aggregatorRouting } from "./aggregator_routing.ts";

function pod(name: string, label: string, nodeName: string, ...words: string[]): KubeObject {
  const [key = "", value = ""] = label.split("=");
  const metadata = { labels: { [key]: value } };
  const spec = { nodeName, containers: [{ name: "main", command: ["program", ...words] }] };
  return object("v1", "Pod", `kube-system/${name}`, { metadata, spec });
}

const server = (...words: string[]) => pod("kube-apiserver-a", "component=kube-apiserver", "cp-1", ...words);
const proxy = (node: string) => pod("kube-proxy-x", "k8s-app=kube-proxy", node);

function metricsServer(status: string, message = ""): KubeObject {
  return object("apiregistration.k8s.io/v1", "APIService", "v1beta1.metrics.k8s.io", {
    spec: { service: { namespace: "kube-system", name: "metrics-server" } },
    status: { conditions: [{ type: "Available", status, message }] },
  });
}

const LOCAL = object("apiregistration.k8s.io/v1", "APIService", "v1.apps", {
  spec: {},
  status: { conditions: [{ type: "Available", status: "True" }] },
});
const SHOP = object("v1", "Namespace", "shop", { metadata: { labels: { "istio-injection": "enabled" } } });
const MESH = [...meshWebhooks(), SHOP];

function atUrl(configuration: KubeObject): KubeObject {
  const { webhooks } = configuration;
  const called = (Array.isArray(webhooks) ? webhooks : []).filter(isMap);
  return { ...configuration, webhooks: called.map((each) => ({ ...each, clientConfig: { url: "https://a.test" } })) };
}

const injected = () =>
  object("v1", "Pod", "shop/made", { metadata: { annotations: { "sidecar.istio.io/status": "{}" } } });

function failing(cause: string) {
  return () => {
    const call =
      'failed calling webhook "namespace.sidecar-injector.istio.io": failed to call webhook: Post "https://x/inject?timeout=10s"';
    throw new ApiError(`The Kubernetes API server "https://c" answered 500 to POST /a: ${call}: ${cause}`, {
      status: 500,
    });
  };
}

interface Case {
  readonly name: string;
  readonly cluster: ClusterOptions;
  readonly result: string;
  readonly says: RegExp;
}

const CASES: readonly Case[] = [
  {
    name: "the flag is on",
    cluster: { objects: [server("--enable-aggregator-routing=true")] },
    result: "ok",
    says: /^--enable-aggregator-routing$/,
  },
  {
    name: "the flag is on by its name alone, given after another",
    cluster: { objects: [server("--enable-aggregator-routing=false", "--enable-aggregator-routing")] },
    result: "ok",
    says: /^--enable-aggregator-routing$/,
  },
  {
    name: "the flag is off, and kube-proxy is on its node",
    cluster: { objects: [server("--enable-aggregator-routing=false"), proxy("cp-1")] },
    result: "ok",
    says: /kube-proxy/,
  },
  {
    name: "kube-proxy is on other nodes alone",
    cluster: { objects: [server(), proxy("node-1")] },
    result: "unknown",
    says:
      /^cannot tell: pod\/kube-system\/kube-apiserver-a runs without --enable-aggregator-routing, and no kube-proxy/,
  },
  {
    name: "something that has taken kube-proxy's place: a Service is reached",
    cluster: { objects: [server(), LOCAL, metricsServer("True")] },
    result: "ok",
    says: /^it reaches the Service "kube-system\/metrics-server"$/,
  },
  {
    name: "no kube-proxy, and a Service is not reached",
    cluster: { objects: [server(), metricsServer("False", "Get https://10.0.0.9:443: context deadline exceeded")] },
    result: "error",
    says:
      /is on its node: Get https:\/\/10\.0\.0\.9:443: context deadline exceeded\nfix: set --enable-aggregator-routing=true/,
  },
  {
    name: "no kube-proxy, and the webhook is not reached",
    cluster: { objects: [server(), ...MESH], dryRun: failing("dial tcp 10.0.0.9:443: i/o timeout") },
    result: "error",
    says: /i\/o timeout\nfix: set --enable-aggregator-routing=true/,
  },
  {
    name: "no kube-proxy, and the webhook's certificate is wrong: it was reached far enough to say nothing",
    cluster: { objects: [server(), ...MESH], dryRun: failing("x509: certificate signed by unknown authority") },
    result: "unknown",
    says: /^cannot tell: pod/,
  },
  {
    name: "kube-apiserver cannot be seen, and a webhook behind a Service injects",
    cluster: { objects: MESH, dryRun: injected },
    result: "ok",
    says: /^it reaches the Service "istio-system\/kubectl-mesh-webhook"$/,
  },
  {
    name: "a webhook at a URL shows nothing of Services",
    cluster: { objects: [...MESH.map((each) => "webhooks" in each ? atUrl(each) : each)], dryRun: injected },
    result: "unknown",
    says: /^cannot tell: the kube-apiserver pods are not visible/,
  },
  {
    name: "the API server's own APIs show nothing of Services",
    cluster: { objects: [LOCAL] },
    result: "unknown",
    says: /^cannot tell: the kube-apiserver pods are not visible/,
  },
  { name: "all is forbidden", cluster: { forbidden: /./ }, result: "unknown", says: /^cannot tell: / },
];

for (const { name, cluster, result, says } of CASES) {
  Deno.test(`aggregator routing: ${name}`, async () => {
    const found = await judge({ run: aggregatorRouting }, clusterInventory(cluster));
    assert.equal(found.result, result, found.message);
    assert.match(await shownText(found), says);
    if (result === "error") assert.deepEqual(found.objects, ["pod/kube-system/kube-apiserver-a"]);
  });
}
