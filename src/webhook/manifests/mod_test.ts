import assert from "node:assert/strict";
import { isMap, type Value, type ValueMap } from "../../base/value.ts";
import { parseYaml } from "../../yaml/mod.ts";
import { BUILT_IN } from "../../inject/mod.ts";
import { type ManifestOptions, webhookManifests, webhookTakeOvers } from "./mod.ts";

const IMAGE = "example.com/mesh:1";

function manifests(options: Partial<ManifestOptions> = {}): ValueMap[] {
  return webhookManifests({ image: IMAGE, ...options }).split(/^---\n/m).map((text) => {
    const value = parseYaml(text);
    assert(isMap(value));
    return value;
  });
}

/** The value at a path of keys and indices. */
function at(value: Value | undefined, path: string): Value | undefined {
  let found: Value | undefined = value;
  for (const key of path.split(".")) {
    found = Array.isArray(found) ? found[Number(key)] : isMap(found) ? found[key] : undefined;
  }
  return found;
}

/** Returns plain objects for `deepEqual`, because parsed mappings have no prototype. */
function plain(value: Value | undefined): unknown {
  return JSON.parse(JSON.stringify(value, (_, each) => typeof each === "bigint" ? Number(each) : each));
}

function ofKind(kind: string, options: Partial<ManifestOptions> = {}): ValueMap[] {
  return manifests(options).filter((manifest) => manifest["kind"] === kind);
}

function one(kind: string, options: Partial<ManifestOptions> = {}): ValueMap {
  const [found, ...more] = ofKind(kind, options);
  assert(found !== undefined && more.length === 0);
  return found;
}

/** `key operator values` of each requirement of a selector. */
function requirements(webhook: Value | undefined, selector: string): string[] {
  const expressions = at(webhook, `${selector}.matchExpressions`);
  assert(Array.isArray(expressions));
  return expressions.map((each) => `${at(each, "key")} ${at(each, "operator")} ${at(each, "values") ?? ""}`.trim());
}

function webhooksOf(configuration: ValueMap): Record<string, { namespaces: string[]; pods: string[] }> {
  const webhooks = configuration["webhooks"];
  assert(Array.isArray(webhooks));
  return Object.fromEntries(webhooks.map((webhook) => [
    String(at(webhook, "name")).replace(".sidecar-injector.istio.io", ""),
    { namespaces: requirements(webhook, "namespaceSelector"), pods: requirements(webhook, "objectSelector") },
  ]));
}

const OWN = "kubernetes.io/metadata.name NotIn istio-system";

Deno.test("objects come in the order of apply, equal each time", () => {
  assert.deepEqual(manifests().map(({ kind }) => kind), [
    "ServiceAccount",
    "Role",
    "RoleBinding",
    "ClusterRole",
    "ClusterRoleBinding",
    "Secret",
    "ConfigMap",
    "Service",
    "Deployment",
    "PodDisruptionBudget",
    "MutatingWebhookConfiguration",
  ]);
  const options = { image: IMAGE, revision: "canary", tags: ["prod", "blue", "prod"], namespaceSelector: "b,a" };
  assert.equal(webhookManifests(options), webhookManifests({ ...options, tags: ["blue", "prod"] }));
});

Deno.test("the default revision has the four webhooks of Istio, and excludes its own namespace", () => {
  assert.deepEqual(webhooksOf(one("MutatingWebhookConfiguration")), {
    "rev.namespace": {
      namespaces: ["istio.io/rev In default", "istio-injection DoesNotExist", OWN],
      pods: ["sidecar.istio.io/inject NotIn false"],
    },
    "rev.object": {
      namespaces: ["istio.io/rev DoesNotExist", "istio-injection DoesNotExist", OWN],
      pods: ["sidecar.istio.io/inject NotIn false", "istio.io/rev In default"],
    },
    "namespace": { namespaces: ["istio-injection In enabled", OWN], pods: ["sidecar.istio.io/inject NotIn false"] },
    "object": {
      namespaces: ["istio-injection DoesNotExist", "istio.io/rev DoesNotExist", OWN],
      pods: ["sidecar.istio.io/inject In true", "istio.io/rev DoesNotExist"],
    },
  });
});

Deno.test("a revision has two webhooks, each tag has a configuration, and only default has four webhooks", () => {
  const configurations = ofKind("MutatingWebhookConfiguration", { revision: "canary", tags: ["prod", "default"] });
  const shown = configurations.map((each) => [
    at(each, "metadata.name"),
    isMap(each["metadata"]) && isMap(each["metadata"]["labels"]) ? each["metadata"]["labels"]["istio.io/tag"] : "",
    Object.values(webhooksOf(each)).map(({ namespaces }) => namespaces[0]).join("; "),
  ]);
  const four =
    "istio.io/rev In default; istio.io/rev DoesNotExist; istio-injection In enabled; istio-injection DoesNotExist";
  assert.deepEqual(shown, [
    ["istio-sidecar-injector-canary", undefined, "istio.io/rev In canary; istio.io/rev DoesNotExist"],
    ["istio-revision-tag-default", "default", four],
    ["istio-revision-tag-prod", "prod", "istio.io/rev In prod; istio.io/rev DoesNotExist"],
  ]);
  assert.deepEqual(at(one("ClusterRole", { revision: "canary", tags: ["prod"] }), "rules.0.resourceNames"), [
    "istio-sidecar-injector-canary",
    "istio-revision-tag-prod",
  ]);
});

Deno.test("namespace, failure policy and selector are in every webhook", () => {
  const options = { namespace: "mesh", failurePolicy: "Ignore", namespaceSelector: "team in (a,b),!legacy" } as const;
  const configuration = one("MutatingWebhookConfiguration", options);
  for (const [index, { namespaces }] of Object.values(webhooksOf(configuration)).entries()) {
    const own = ["kubernetes.io/metadata.name NotIn mesh", "team In a,b", "legacy DoesNotExist"];
    assert.deepEqual(namespaces.slice(-3), own);
    assert.equal(at(configuration, `webhooks.${index}.failurePolicy`), "Ignore");
    assert.equal(at(configuration, `webhooks.${index}.clientConfig.service.namespace`), "mesh");
  }
  const namespaced = manifests(options).filter((each) => at(each, "metadata.namespace") !== undefined);
  assert.deepEqual([...new Set(namespaced.map((each) => at(each, "metadata.namespace")))], ["mesh"]);
});

Deno.test("two revisions in a namespace share no object", () => {
  const identity = (each: ValueMap) => `${each["kind"]} ${at(each, "metadata.name")}`;
  const [a, b] = [manifests(), manifests({ revision: "canary" })].map((all) => new Set(all.map(identity)));
  assert.deepEqual([...a ?? []].filter((each) => b?.has(each)), []);
});

Deno.test("the configuration equals the output of inject --show-config with the given parts", () => {
  const map = one("ConfigMap", { configuration: { hub: "example.com/mesh" } });
  assert.equal(at(map, "data.config"), BUILT_IN.config);
  assert.equal(at(map, "data.mesh"), BUILT_IN.mesh);
  assert.match(String(at(map, "data.values")), /hub: example\.com\/mesh/);
});

Deno.test("the Deployment runs webhook serve without root, with the given replicas", () => {
  const deployment = one("Deployment", { replicas: 3 });
  assert.equal(at(deployment, "spec.replicas"), 3);
  assert.equal(at(deployment, "spec.template.spec.containers.0.image"), IMAGE);
  assert.deepEqual(at(deployment, "spec.selector.matchLabels"), at(one("Service"), "spec.selector"));
  const args = at(deployment, "spec.template.spec.containers.0.args");
  assert(Array.isArray(args));
  assert.deepEqual(args.slice(0, 2), ["webhook", "serve"]);
});

Deno.test("the Service has the port of reviews alone, and the Secret no data", () => {
  const ports = at(one("Service"), "spec.ports");
  assert(Array.isArray(ports));
  assert.deepEqual(ports.map((port) => [at(port, "port"), at(port, "targetPort")]), [[443, "https-webhook"]]);
  const secret = one("Secret", { revision: "canary", namespace: "mesh" });
  assert.deepEqual(Object.keys(secret), ["apiVersion", "kind", "metadata", "type"]);
  assert.equal(secret["type"], "Opaque");
  const args = at(one("Deployment", { revision: "canary" }), "spec.template.spec.containers.0.args");
  assert(Array.isArray(args) && args.includes(`--certificate-secret=${at(secret, "metadata.name")}`));
});

Deno.test("an autoscaler sets the number of pods, and the Deployment does not", () => {
  const options = { replicas: 3, maxReplicas: 6 };
  assert.equal(at(one("Deployment", options), "spec.replicas"), undefined);
  const autoscaler = one("HorizontalPodAutoscaler", options);
  assert.deepEqual([at(autoscaler, "spec.minReplicas"), at(autoscaler, "spec.maxReplicas")].map(Number), [3, 6]);
  assert.equal(at(autoscaler, "spec.scaleTargetRef.name"), at(one("Deployment"), "metadata.name"));
  assert.deepEqual(ofKind("HorizontalPodAutoscaler"), []);
});

Deno.test("a NetworkPolicy lets reviews in from API servers, and metrics from namespaces", () => {
  assert.deepEqual(ofKind("NetworkPolicy"), []);
  const networkPolicy = ["10.1.2.3", "10.0.7.9/24", "2001:DB8::1"];
  const reviews = {
    from: ["10.1.2.3/32", "10.0.7.0/24", "2001:db8::1/128"].map((cidr) => ({ ipBlock: { cidr } })),
    ports: [{ protocol: "TCP", port: 15017 }],
  };
  const policy = one("NetworkPolicy", { networkPolicy });
  assert.deepEqual(at(policy, "spec.podSelector.matchLabels"), at(one("Service"), "spec.selector"));
  assert.deepEqual(at(policy, "spec.policyTypes"), ["Ingress"]);
  assert.deepEqual(plain(at(policy, "spec.ingress")), [reviews]);
  const options = { networkPolicy, metricsNamespaces: ["monitoring"], probesFrom: ["10.2.0.0/16"] };
  const from = [
    { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "monitoring" } } },
    { ipBlock: { cidr: "10.2.0.0/16" } },
  ];
  const metrics = { from, ports: [{ protocol: "TCP", port: 8080 }] };
  assert.deepEqual(plain(at(one("NetworkPolicy", options), "spec.ingress")), [reviews, metrics]);
});

Deno.test("with the configuration of a control plane nothing is mounted, and RBAC allows its two ConfigMaps", () => {
  const options = { namespace: "mesh", revision: "canary", fromCluster: { meshConfigMapName: "istio" } };
  assert.deepEqual(ofKind("ConfigMap", options), []);
  const deployment = one("Deployment", options);
  assert.equal(at(deployment, "spec.template.spec.volumes"), undefined);
  assert.equal(at(deployment, "spec.template.spec.containers.0.volumeMounts"), undefined);
  const role = ofKind("Role", options).find((each) => at(each, "metadata.namespace") === "istio-system");
  assert.deepEqual(at(role, "rules.0.resourceNames"), ["istio-sidecar-injector-canary", "istio"]);
  const binding = ofKind("RoleBinding", options).find((each) => at(each, "metadata.namespace") === "istio-system");
  assert.equal(at(binding, "subjects.0.namespace"), "mesh");
});

Deno.test("each object that check misses has the flags that make it again", () => {
  const flags = ["--image=example.com/mesh:1", "--take-over"];
  const key = "metadata.annotations";
  const kinds = manifests({ flags }).filter((each) => at(each, key) !== undefined).map(({ kind }) => kind);
  assert.deepEqual(kinds, ["ConfigMap", "Service", "Deployment", "MutatingWebhookConfiguration"]);
  const annotations = Object.entries(Object(at(one("Service", { flags }), key)));
  assert.deepEqual(annotations, [["kubectl-mesh/manifests-flags", JSON.stringify(flags)]]);
  assert.ok(manifests().every((each) => at(each, key) === undefined));
});

Deno.test("only objects of a kind, equal to those among all", () => {
  assert.deepEqual(manifests({ only: ["service", "ConfigMap"] }), [one("ConfigMap"), one("Service")]);
  assert.deepEqual(webhookTakeOvers({ image: IMAGE, only: ["service"] }), []);
});

Deno.test("an image may have a registry with a port, a tag and a digest", () => {
  for (const image of ["mesh", "mesh:V1", "Registry.example:5000/a/mesh:1@sha256:0f", "localhost/mesh@sha256:0F"]) {
    assert.equal(at(one("Deployment", { image }), "spec.template.spec.containers.0.image"), image);
  }
});

const WRONG: readonly (readonly [options: Partial<ManifestOptions>, message: string])[] = [
  [{ image: "" }, 'Invalid value "" for "--image"'],
  [{ image: "a b" }, 'Invalid value "a b" for "--image"'],
  [{ image: "IMAGE" }, 'Invalid value "IMAGE" for "--image"'],
  [{ image: "example.com/Mesh:1" }, 'Invalid value "example.com/Mesh:1" for "--image"'],
  [{ namespace: "Mesh" }, 'Invalid value "Mesh" for "--namespace"'],
  [{ revision: "1-2" }, 'Invalid value "1-2" for "--revision"'],
  [{ revision: "r".repeat(41) }, `Invalid value "${"r".repeat(41)}" for "--revision"`],
  [{ tags: ["a_b"] }, 'Invalid value "a_b" for "--tag"'],
  [{ revision: "a", tags: ["a"] }, 'Invalid value "a" for "--tag"'],
  [{ replicas: 3, maxReplicas: 2 }, 'Invalid value "2" for "--max-replicas"'],
  [{ networkPolicy: ["10.0.0.1", "10.0.0.0/33"] }, 'Invalid value "10.0.0.0/33" for "--network-policy"'],
  [{ networkPolicy: ["api.example.com"] }, 'Invalid value "api.example.com" for "--network-policy"'],
  [{ networkPolicy: ["fe80::1%eth0/64"] }, 'Invalid value "fe80::1%eth0/64" for "--network-policy"'],
  [{ networkPolicy: ["::1"], probesFrom: ["10.0.0"] }, 'Invalid value "10.0.0" for "--probes-from"'],
  [{ networkPolicy: ["::1"], metricsNamespaces: ["A"] }, 'Invalid value "A" for "--metrics-namespace"'],
  [{ only: ["pod"] }, 'Invalid value "pod" for "--only"'],
  [{ only: ["ConfigMap"], fromCluster: {} }, 'Invalid value "ConfigMap" for "--only"'],
  [{ namespaceSelector: "a=b=c" }, 'Invalid selector "a=b=c" in "--namespace-selector"'],
];

for (const [options, message] of WRONG) {
  Deno.test(`usage error: ${message}`, () => {
    assert.throws(() => webhookManifests({ image: IMAGE, ...options }), { name: "UsageError", message });
  });
}
