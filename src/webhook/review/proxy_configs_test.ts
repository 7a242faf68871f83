import assert from "node:assert/strict";
import type { Value, ValueMap } from "../../base/value.ts";
import { admitted, reviewBytes, webhookInjector } from "../../../test/support/kube/review.ts";
import { ProxyConfigs } from "./proxy_configs.ts";
import { reviewPod } from "./review_pod.ts";

const CONFIG =
  "templates: {sidecar: 'spec: {containers: [{name: istio-proxy, image: p, args: [{{ protoToJSON .ProxyConfig | quote }}]}]}'}";
const injector = webhookInjector(CONFIG);

function resource(namespace: string, name: string, spec: ValueMap, created = "2026-01-01T00:00:00Z"): ValueMap {
  return { metadata: { namespace, name, creationTimestamp: created }, spec };
}

const vars = (environmentVariables: ValueMap, more: ValueMap = {}): ValueMap => ({ environmentVariables, ...more });
const forApp = (app: string) => ({ selector: { matchLabels: { app } } });

interface Row {
  readonly name: string;
  readonly resources: readonly ValueMap[];
  readonly annotation?: string;
  readonly expected: Value;
}

const root = resource("istio-system", "root", vars({ A: "root", R: "root" }, { concurrency: 1 }));
const own = resource("default", "own", vars({ A: "own" }));
const selecting = resource("default", "web", vars({ A: "web", B: "web" }, forApp("web")));

const ROWS: readonly Row[] = [
  { name: "none", resources: [], expected: {} },
  {
    name: "the resource of the mesh",
    resources: [root],
    expected: { concurrency: 1, proxyMetadata: { A: "root", R: "root" } },
  },
  {
    name: "the resource of the namespace over it",
    resources: [own, root],
    expected: { concurrency: 1, proxyMetadata: { A: "own", R: "root" } },
  },
  {
    name: "the annotation over both",
    resources: [own, root],
    annotation: "concurrency: 3\nproxyMetadata: {A: pod, B: pod}",
    expected: { concurrency: 3, proxyMetadata: { A: "pod", B: "pod", R: "root" } },
  },
  {
    name: "one that selects the pod over all",
    resources: [selecting, root],
    annotation: "concurrency: 3\nproxyMetadata: {A: pod, C: pod}",
    expected: { concurrency: 3, proxyMetadata: { A: "web", B: "web", C: "pod", R: "root" } },
  },
  {
    name: "none of those for other pods and namespaces, or for no pods",
    resources: [
      resource("default", "db", vars({ A: "db" }, forApp("db"))),
      resource("other", "web", vars({ A: "other" }, forApp("web"))),
      resource("other", "all", vars({ A: "all" })),
      resource("default", "empty", vars({ A: "empty" }, { selector: {} })),
    ],
    expected: {},
  },
  {
    name: "the oldest of several",
    resources: [resource("default", "a", vars({ A: "new" }), "2026-02-01T00:00:00Z"), own],
    expected: { proxyMetadata: { A: "own" } },
  },
  {
    name: "the image",
    resources: [resource("default", "i", { image: { imageType: "debug" } })],
    expected: { image: { imageType: "debug" } },
  },
];

function effective(resources: readonly ValueMap[], annotation?: string): Value {
  const annotations: ValueMap = annotation === undefined ? {} : { "proxy.istio.io/config": annotation };
  const object = {
    kind: "Pod",
    metadata: { name: "p", labels: { app: "web", v: "1" }, annotations },
    spec: { containers: [{ name: "app" }] },
  };
  const context = { injector, path: "/inject", proxyConfigs: new ProxyConfigs(resources) };
  const pod = JSON.parse(JSON.stringify(admitted(object, reviewPod(reviewBytes(object), context))));
  return JSON.parse(pod.spec.containers[1].args[0]);
}

for (const { name, resources, annotation, expected } of ROWS) {
  Deno.test(`ProxyConfigs: ${name}`, () => assert.deepEqual(effective(resources, annotation), expected));
}

Deno.test("ProxyConfigs: an invalid resource is ignored with a problem", () => {
  const wrong = resource("default", "wrong", { concurrency: "many" });
  assert.deepEqual(effective([wrong, root]), { concurrency: 1, proxyMetadata: { A: "root", R: "root" } });
  const [problem] = new ProxyConfigs([wrong]).problems;
  assert.match(problem ?? "", /^Ignoring the ProxyConfig "default\/wrong": .*"concurrency"/);
});

Deno.test("ProxyConfigs: the mesh of a namespace is created once", () => {
  const configs = new ProxyConfigs([root, own]);
  const first = configs.meshFor(injector.mesh, "default");
  assert.equal(configs.meshFor(injector.mesh, "default"), first);
  assert.notEqual(configs.meshFor(injector.mesh, "another"), first);
  assert.equal(configs.meshFor(injector.mesh, "another"), configs.meshFor(injector.mesh, "third"));
});
