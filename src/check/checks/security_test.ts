import assert from "node:assert/strict";
import { ApiError, type KubeObject } from "../../kube/client/mod.ts";
import type { Value, ValueMap } from "../../base/value.ts";
import { BUILT_IN } from "../../inject/mod.ts";
import type { Finding } from "../check.ts";
import { clusterInventory, type ClusterOptions, object } from "../../../test/support/kube/cluster.ts";
import { meshWebhooks } from "../../../test/support/kube/mesh_webhooks.ts";
import { violationsOf } from "../../inject/mod.ts";
import { SECURITY_CHECKS } from "./security.ts";
import { judge } from "../run.ts";

const VALUES = BUILT_IN.values;
const WITH_CNI = VALUES.replace(/(cni:\n\s+enabled: )false/, "$1true");
const WITHOUT_SECCOMP = WITH_CNI.replace(/seccompProfile:\n\s+type: RuntimeDefault/, "seccompProfile: {}");

interface Setting {
  readonly values?: string;
  /** Labels of the namespace `web`. */
  readonly labels?: ValueMap;
  readonly webhooks?: readonly KubeObject[];
  readonly objects?: readonly KubeObject[];
  readonly forbidden?: RegExp;
  readonly dryRun?: ClusterOptions["dryRun"];
}

const MESH = { "istio-injection": "enabled" };
const enforce = (level: string) => ({ "pod-security.kubernetes.io/enforce": level });

async function find(id: string, setting: Setting = {}): Promise<Finding> {
  const { values = VALUES, labels = {}, webhooks = meshWebhooks(), objects = [], forbidden, dryRun } = setting;
  const configMap = (name: string, data: ValueMap) => object("v1", "ConfigMap", `istio-system/${name}`, { data });
  const inventory = clusterInventory({
    objects: [
      ...webhooks,
      configMap("istio-sidecar-injector", { config: BUILT_IN.config, values }),
      configMap("istio", { mesh: BUILT_IN.mesh }),
      object("v1", "Namespace", "web", { metadata: { labels: { ...MESH, ...labels } } }),
      object("v1", "Namespace", "plain", { metadata: { labels: enforce("restricted") } }),
      object("v1", "Namespace", "kube-system"),
      ...objects,
    ],
    ...(forbidden === undefined ? {} : { forbidden }),
    ...(dryRun === undefined ? {} : { dryRun }),
  });
  const check = SECURITY_CHECKS.find((each) => each.id === id);
  if (check === undefined) throw new Error(`there is no check "${id}"`);
  return await judge(check, inventory);
}

async function shown(id: string, setting: Setting = {}): Promise<string> {
  const { result, message = "" } = await find(id, setting);
  return `${result}: ${message.split("\n")[0]}`;
}

const INIT = 'container "istio-init"';
const LEVELS: readonly (readonly [name: string, setting: Setting, expected: RegExp])[] = [
  ["no level", {}, /^ok: $/],
  ["privileged", { labels: enforce("privileged") }, /^ok: $/],
  [
    "baseline against the init container",
    { labels: enforce("baseline") },
    /^error: namespace\/web: enforces baseline, and container "istio-init" adds NET_ADMIN and NET_RAW$/,
  ],
  [
    "restricted against the init container",
    { labels: enforce("restricted") },
    new RegExp(`^error: .*restricted, and ${INIT} adds NET_ADMIN and NET_RAW, may run as root, runs as user 0$`),
  ],
  ["baseline with CNI", { labels: enforce("baseline"), values: WITH_CNI }, /^ok: $/],
  ["restricted with CNI", { labels: enforce("restricted"), values: WITH_CNI }, /^ok: $/],
  [
    "restricted with CNI and no seccomp profile",
    { labels: enforce("restricted"), values: WITHOUT_SECCOMP },
    /^warning: .*container "istio-proxy" has no seccomp profile: pods must set this in their securityContext$/,
  ],
  [
    "before the mesh every namespace counts",
    { webhooks: [] },
    /^warning: namespace\/plain: enforces restricted, and container "istio-init" adds/,
  ],
];

for (const [name, setting, expected] of LEVELS) {
  Deno.test(`pod-security: ${name}`, async () => assert.match(await shown("pod-security", setting), expected));
}

Deno.test("the fix of a quota raises it by what one pod with its sidecar needs", async () => {
  const app = { name: "app", image: "a", resources: { requests: { cpu: "200m" } } };
  const objects = [
    object("v1", "Pod", "web/a", { spec: { containers: [app, { ...app, name: "istio-proxy" }] } }),
    object("v1", "Pod", "plain/b", { spec: { containers: [app, { ...app, name: "c" }] } }),
    quota({ cpu: "4", "requests.memory": "1Gi" }, {}, { cpu: "3950m", "requests.memory": "1Gi" }),
  ];
  const { fixes = [] } = await find("resource-quota", { objects });
  const commands = fixes.flatMap(({ alternatives }) => alternatives.at(-1)?.steps ?? []).map(({ command }) => command);
  const hard = { cpu: "4300m", "requests.memory": "1152Mi" };
  const patch = `kubectl patch resourcequota/compute -n web --type=merge -p '${JSON.stringify({ spec: { hard } })}'`;
  assert.deepEqual([...new Set(commands)], [patch]);
  assert.equal(
    fixes[0]?.alternatives.at(-1)?.change,
    "raise the quota by 300m of cpu and 128Mi of requests.memory for one pod with its sidecar",
  );
});

Deno.test("namespaces outside the mesh are ignored", async () => {
  assert.deepEqual(await find("pod-security"), { result: "ok" });
});

const quota = (hard: ValueMap, rest: ValueMap = {}, used: ValueMap = {}) =>
  object("v1", "ResourceQuota", "web/compute", { spec: { hard, ...rest }, status: { hard, used } });
const range = (limit: ValueMap) => object("v1", "LimitRange", "web/bounds", { spec: { limits: [limit] } });

const BOUNDS: readonly (readonly [id: string, name: string, objects: KubeObject[], expected: string])[] = [
  ["resource-quota", "none", [], "ok: "],
  ["resource-quota", "enough", [quota({ "requests.cpu": "4", "limits.memory": "8Gi" })], "ok: "],
  ["resource-quota", "other things", [quota({ pods: "1", services: "0" })], "ok: "],
  [
    "resource-quota",
    "used up",
    [quota({ cpu: "4" }, {}, { cpu: "3950m" })],
    'warning: namespace/web: the quota "compute" has 50m of requests.cpu left, but a sidecar needs 100m',
  ],
  [
    "resource-quota",
    "too small for ever",
    [quota({ "limits.memory": "512Mi" })],
    'error: namespace/web: the quota "compute" allows limits.memory of 512Mi, but a sidecar alone needs 1Gi',
  ],
  ["resource-quota", "a resource that need not be named", [quota({ "limits.ephemeral-storage": "1Gi" })], "ok: "],
  ["resource-quota", "another kind of pods", [quota({ cpu: "1m" }, { scopes: ["BestEffort"] })], "ok: "],
  ["limit-range", "none", [], "ok: "],
  ["limit-range", "wide", [range({ type: "Container", max: { cpu: "4" }, min: { cpu: "10m" } })], "ok: "],
  [
    "limit-range",
    "a largest",
    [range({ type: "Container", max: { memory: "512Mi" } })],
    'error: namespace/web: the limit range "bounds" allows memory of at most 512Mi: the container "istio-init" needs 1Gi',
  ],
  [
    "limit-range",
    "a smallest",
    [range({ type: "Container", min: { cpu: "250m" } })],
    'error: namespace/web: the limit range "bounds" requires cpu of at least 250m: the container "istio-init" requests 100m',
  ],
  [
    "limit-range",
    "a ratio",
    [range({ type: "Container", maxLimitRequestRatio: { cpu: "10" } })],
    'error: namespace/web: the limit range "bounds" allows a limit of cpu 10 times the request: ' +
    'the container "istio-init" has the request 100m and the limit 2',
  ],
  [
    "limit-range",
    "a largest pod",
    [range({ type: "Pod", max: { cpu: "1" } })],
    'error: namespace/web: the limit range "bounds" allows cpu of at most 1: a sidecar alone needs 2',
  ],
];

for (const [id, name, objects, expected] of BOUNDS) {
  Deno.test(`${id}: ${name}`, async () => assert.equal(await shown(id, { objects }), expected));
}

const WITHOUT_LIMITS = VALUES.replace(/limits:\n\s+cpu: "2"\n\s+memory: 1Gi/, "limits: {}");

Deno.test("resource-quota: required resources, and defaults of a limit range", async () => {
  const objects = [quota({ "limits.cpu": "8" })];
  const expected =
    'error: namespace/web: the quota "compute" requires limits.cpu, which the container "istio-init" does not set';
  assert.equal(await shown("resource-quota", { objects, values: WITHOUT_LIMITS }), expected);
  const defaults = [...objects, range({ type: "Container", default: { cpu: "1" } })];
  assert.equal(await shown("resource-quota", { objects: defaults, values: WITHOUT_LIMITS }), "ok: ");
});

Deno.test("pod-security: privileged containers are violations", () => {
  for (const securityContext of [{ privileged: true }, { procMount: "Unmasked" }]) {
    const violations = violationsOf({ spec: { containers: [{ name: "c", securityContext }] } }, "baseline");
    assert.match(violations.join(), /^container "c" (is privileged|has a procMount)$/);
  }
});

const node = (name: string, kubeletVersion: string) =>
  object("v1", "Node", name, { status: { nodeInfo: { kubeletVersion } } });
const pod = (initContainers: Value[]) => object("v1", "Pod", "web/cart", { spec: { initContainers } });

Deno.test("native-sidecars: nodes before 1.29 are reported", async () => {
  const nodes = [node("new", "v1.29.0"), node("odd", "unknown"), node("old", "v1.28.9-gke.10")];
  assert.equal(await shown("native-sidecars"), "skipped: the cluster has no nodes");
  assert.equal(await shown("native-sidecars", { objects: nodes.slice(0, 2) }), "ok: ");
  const { result, objects = [] } = await find("native-sidecars", { objects: nodes });
  assert.deepEqual([result, objects], ["warning", ["node/old"]]);
});

Deno.test("native-sidecars: an old node is an error with native proxies", async () => {
  const objects = [node("old", "v1.28.9"), pod([{ name: "istio-proxy", restartPolicy: "Always" }])];
  const expected = "error: node/old: runs Kubernetes v1.28.9: pods with a native sidecar do not start on this node";
  assert.equal(await shown("native-sidecars", { objects }), expected);
});

Deno.test("native-sidecars: an unschedulable old node without mesh pods does not count", async () => {
  const old = { ...node("old", "v1.28.9"), spec: { unschedulable: true } };
  const there = { ...pod([{ name: "istio-proxy" }]), spec: { nodeName: "old", containers: [{ name: "istio-proxy" }] } };
  assert.equal(await shown("native-sidecars", { objects: [old] }), "ok: ");
  assert.match(await shown("native-sidecars", { objects: [old, there] }), /^warning: node\/old: /);
});

Deno.test("native-sidecars: the fix drains an old node if a newer node is schedulable", async () => {
  const commands = async (...objects: readonly KubeObject[]) => {
    const { fixes = [] } = await find("native-sidecars", { objects: [node("old", "v1.28.9"), ...objects] });
    return fixes.flatMap(({ alternatives }) =>
      alternatives.flatMap(({ steps }) => steps.map(({ command }) => command))
    );
  };
  const full = { ...node("new", "v1.34.1"), spec: { unschedulable: true } };
  assert.deepEqual([await commands(), await commands(full)], [[], []]);
  const drain = "kubectl drain old --ignore-daemonsets --delete-emptydir-data";
  assert.deepEqual(await commands(node("new", "v1.34.1")), [drain]);
});

const RIGHTS: readonly (readonly [id: string, forbidden: RegExp, needs: string])[] = [
  ["pod-security", /namespaces$/, "needs list on namespaces"],
  ["pod-security", /mutatingwebhook/, "needs list on mutatingwebhookconfigurations"],
  ["pod-security", /configmaps/, 'needs get on configmaps in the namespace "istio-system"'],
  ["resource-quota", /resourcequotas/, "needs list on resourcequotas"],
  ["limit-range", /limitranges/, "needs list on limitranges"],
  ["native-sidecars", /nodes/, "needs list on nodes"],
];

for (const [id, forbidden, needs] of RIGHTS) {
  Deno.test(`${id} cannot tell: ${needs}`, async () => {
    assert.equal(await shown(id, { forbidden }), `unknown: cannot tell: ${needs}`);
  });
}

Deno.test("resource-quota and limit-range need their own right only", async () => {
  const tight = [quota({ "limits.memory": "512Mi" }), range({ type: "Container", max: { memory: "512Mi" } })];
  const quotaOnly = await shown("resource-quota", { objects: tight, forbidden: /limitranges/ });
  assert.match(quotaOnly, /^error: namespace\/web: the quota "compute" allows limits.memory of 512Mi/);
  const rangeOnly = await shown("limit-range", { objects: tight, forbidden: /resourcequotas/ });
  assert.match(rangeOnly, /^error: namespace\/web: the limit range "bounds" allows memory of at most 512Mi/);
  const roomy = [quota({ "limits.memory": "8Gi" })];
  assert.equal(await shown("resource-quota", { objects: roomy, forbidden: /limitranges/ }), "ok: ");
});

Deno.test("resource-quota: without the right to list limit ranges, their defaults are unknown", async () => {
  const setting = { objects: [quota({ "limits.cpu": "8" })], values: WITHOUT_LIMITS, forbidden: /limitranges/ };
  assert.equal(await shown("resource-quota", setting), "unknown: cannot tell: needs list on limitranges");
});

Deno.test("scc-ranges: a user outside the range of the namespace is a warning", async () => {
  const within = (range: string) => {
    const annotations = { "openshift.io/sa.scc.uid-range": range };
    return [object("v1", "Namespace", "apps", { metadata: { labels: MESH, annotations } })];
  };
  const expected =
    /^warning: namespace\/apps: its user ID range is 1000650000\/10000, but .*"istio-proxy" runs as 1337/;
  assert.match(await shown("scc-ranges", { objects: within("1000650000/10000") }), expected);
  assert.equal(await shown("scc-ranges", { objects: within("0-2000") }), "ok: ");
  const values = WITH_CNI.replace("global:", "global:\n  platform: openshift");
  assert.equal(await shown("scc-ranges", { objects: within("1000650000/10000"), values }), "ok: ");
  assert.equal(await shown("scc-ranges"), "ok: ");
});

Deno.test("scc-ranges: the SCC that is reported admits what injection adds", async () => {
  const annotations = { "openshift.io/sa.scc.uid-range": "1000650000/10000" };
  const objects = [object("v1", "Namespace", "shop", { metadata: { labels: MESH, annotations } })];
  const commands = async (values: string) => {
    const { fixes = [] } = await find("scc-ranges", { objects, values });
    return fixes[0]?.alternatives.flatMap(({ steps }) => steps.map(({ command }) => command));
  };
  const set = "kubectl edit configmap/istio-sidecar-injector -n istio-system";
  const grant = (scc: string) => `oc adm policy add-scc-to-group ${scc} system:serviceaccounts:shop`;
  assert.deepEqual(await commands(WITH_CNI), [set, grant("nonroot-v2")]);
  assert.deepEqual(await commands(VALUES), [set, grant("privileged")]);
});

const WITHOUT = /"sidecar.istio.io\/inject":"false"/;

/** Refuses pods with a sidecar, or all pods. */
function refusing(message: string, isOfSidecar = true): ClusterOptions["dryRun"] {
  return (_namespace, pod) => {
    const isPlain = WITHOUT.test(JSON.stringify(pod));
    if (isPlain && isOfSidecar) return object("v1", "Pod", "web/made", { spec: { containers: [{ name: "check" }] } });
    throw new ApiError(`The Kubernetes API server denied the request: ${message}`, {
      status: message.includes("User") ? 403 : 422,
    });
  };
}

const POLICY = `pods "x" is forbidden: ValidatingAdmissionPolicy 'one' with binding 'one' denied request: no sidecars`;

const ADMISSIONS: readonly (readonly [name: string, setting: Setting, expected: RegExp])[] = [
  ["admitted", {}, /^ok: $/],
  ["a policy against the sidecar", { dryRun: refusing(POLICY) }, /^error: namespace\/web: refuses injected pods: pods/],
  [
    "a field that the API server rejects",
    { dryRun: refusing('Pod "x" is invalid: spec.initContainers[1].imagePullPolicy: Unsupported value: "Sometimes"') },
    /^error: namespace\/web: refuses injected pods: Pod "x" is invalid: .* "Sometimes"$/,
  ],
  [
    "a policy against every pod",
    { dryRun: refusing(POLICY, false) },
    /^unknown: cannot tell for the namespace "web": pods "x" is forbidden/,
  ],
  ["a quota, which has its own check", { dryRun: refusing("exceeded quota: compute") }, /^ok: $/],
  [
    "no right to create pods",
    { dryRun: refusing('pods is forbidden: User "joe" cannot create', false) },
    /^unknown: cannot tell: needs create on pods/,
  ],
];

Deno.test("pod-admission: the advice opens the object that refuses the pod in an editor", async () => {
  const advice = async (message: string) => {
    const { fixes = [] } = await find("pod-admission", { dryRun: refusing(message) });
    return fixes.flatMap(({ alternatives }) =>
      alternatives.flatMap(({ steps }) => steps.map(({ command }) => command))
    );
  };
  assert.deepEqual(await advice(POLICY), ["kubectl edit validatingadmissionpolicy/one"]);
  assert.deepEqual(await advice('Pod "x" is invalid: spec.a: Unsupported value: "b"'), [
    "kubectl edit configmap/istio-sidecar-injector -n istio-system",
  ]);
  assert.deepEqual(await advice('admission webhook "y" denied the request: no'), []);
});

for (const [name, setting, expected] of ADMISSIONS) {
  Deno.test(`pod-admission: ${name}`, async () => assert.match(await shown("pod-admission", setting), expected));
}
