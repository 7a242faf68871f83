/** `check injection` predicts how a real API server evaluates matchConditions, or says that it cannot. */
import assert from "node:assert/strict";
import { connect, type KubeConnection } from "../../../src/kube/client/mod.ts";
import { isMap, type ValueMap } from "../../../src/base/value.ts";
import { realWorld } from "../../../src/platform/mod.ts";
import { explainInjection, type Explanation } from "../../../src/check/mod.ts";
import { testWhen } from "../../support/test_when.ts";
import { needsCluster } from "../support/cluster/cluster.ts";
import { until } from "../../support/until.ts";
import { statusOf } from "../support/webhook.ts";
import { configurationsOf, type MeshCluster, podOf, startMesh } from "./support/mesh_cluster.ts";
import { createNamespace } from "../support/cluster/requests.ts";

/** Expressions that can be predicted. Each has its own namespace and webhook. */
const DECIDED = [
  "true",
  "false",
  "object.metadata.labels['app'] == 'web'",
  "has(object.metadata.labels) && 'app' in object.metadata.labels",
  "!('app' in object.metadata.labels)",
  "object.metadata.?labels[?'app'].orValue('none') != 'web'",
  "has(object.metadata.annotations) && object.metadata.annotations.exists(k, k.startsWith('example.com/'))",
  "object.metadata.annotations['example.com/a'].matches('^[0-9]+$')",
  "object.metadata.labels.all(k, size(k) < 4 && !k.contains('/'))",
  "object.metadata.name.startsWith('a') || object.metadata.name.endsWith('b')",
  "request.namespace == 'cond-0' ? false : request.operation == 'CREATE'",
  "request.kind.kind == 'Pod' && request.resource.resource == 'pods' && oldObject == null",
  "has(object.metadata.generateName)",
  "size(object.metadata.name) % 2 == 0",
  "object.metadata.labels.size() > 1",
  "object.metadata.labels == {'app': 'web'}",
  "['web', 'db'].exists(x, object.metadata.?labels.app.orValue('') == x)",
  "string(size(object.metadata.name)) in ['3', '5']",
];

/** Expressions that need unknown data: the API server evaluates them all. */
const UNDECIDED = [
  "object.spec.restartPolicy == 'Always'",
  "request.userInfo.username != 'joe'",
  "authorizer.group('').resource('pods').namespace('plain').check('delete').allowed()",
  "!object.spec.containers.exists(c, quantity('1').isGreaterThan(quantity('2')))",
];

const PODS: readonly ValueMap[] = [
  {},
  { labels: { app: "web" } },
  { labels: { app: "db", tier: "x" } },
  { labels: { "example.com/app": "web" }, annotations: { "example.com/a": "12" } },
  { annotations: { "example.com/a": "twelve" } },
  { labels: { app: "web", "sidecar.istio.io/inject": "false" } },
].flatMap((metadata, index) => ["a", "bb"].map((end) => ({ ...metadata, name: `${"pod".slice(index % 3)}-${end}` })));

const POLICIES = ["Fail", "Ignore"] as const;

testWhen(needsCluster(), "check injection predicts matchConditions", async (t) => {
  const mesh = await startMesh();
  const api = await connect(realWorld(), { kubeconfig: mesh.cluster.kubeconfig });
  try {
    for (const [index] of [...DECIDED, ...UNDECIDED].entries()) {
      await createNamespace(mesh.cluster, `cond-${index}`);
    }
    for (const policy of POLICIES) {
      await t.step(`failurePolicy ${policy}`, async () => {
        await registerAll(mesh, policy);
        await isHeard(api, policy);
        for (const [index, expression] of DECIDED.entries()) await agrees(api, `cond-${index}`, expression);
        for (const [index, expression] of UNDECIDED.entries()) {
          await cannotTell(api, index + DECIDED.length, expression);
        }
      });
    }
  } finally {
    api.close();
    await mesh.stop();
  }
});

/** A configuration for each expression and its namespace; the mesh's own covers the others. */
async function registerAll(mesh: MeshCluster, failurePolicy: string): Promise<void> {
  for (const [index, expression] of [...DECIDED, ...UNDECIDED].entries()) {
    const namespaceSelector = { matchLabels: { "kubernetes.io/metadata.name": `cond-${index}` } };
    const matchConditions = [{ name: "c", expression }];
    const [configuration] = configurationsOf(mesh, (each) => ({
      ...each,
      failurePolicy,
      namespaceSelector,
      objectSelector: {},
      matchConditions,
    }));
    assert(configuration !== undefined && Array.isArray(configuration["webhooks"]));
    const labels = { app: "sidecar-injector", "istio.io/rev": "default", policy: failurePolicy };
    const webhooks = configuration["webhooks"].slice(0, 1);
    await mesh.apply({ ...configuration, metadata: { name: `cond-${index}`, labels }, webhooks });
  }
}

async function isHeard(api: KubeConnection, policy: string): Promise<void> {
  const index = DECIDED.indexOf("object.metadata.labels['app'] == 'web'");
  const last = DECIDED.length + UNDECIDED.length - 1;
  await until(async () => {
    const failing = await made(api, podOf("pod", { namespace: `cond-${index}` }));
    const injected = await made(api, podOf("pod", { namespace: `cond-${last}` }));
    return failing === (policy === "Fail" ? "refused" : "none") && injected === "injected";
  }, `Never: failurePolicy ${policy} is in force`);
}

type End = "injected" | "none" | "refused";

/** The pod after admission, as a dry run. */
async function made(api: KubeConnection, pod: ValueMap): Promise<End> {
  const { namespace } = isMap(pod["metadata"]) ? pod["metadata"] : {};
  try {
    const created = await api.create(`/api/v1/namespaces/${namespace}/pods?dryRun=All`, pod);
    return statusOf({ ...created }) === undefined ? "none" : "injected";
  } catch (error) {
    assert(error instanceof Error);
    assert.match(error.message, /expression .* resulted in error/s);
    return "refused";
  }
}

/** What is said of pods, in one run of the command. */
async function explained(api: KubeConnection, pods: readonly ValueMap[]): Promise<readonly Explanation[]> {
  const bytes = new TextEncoder().encode(pods.map((pod) => JSON.stringify(pod)).join("\n---\n"));
  const inputs = [{ file: "pods.yaml", chunks: () => once(bytes) }];
  const question = { inputs, namespace: "default", choice: {}, configuration: {} };
  const explanations = await explainInjection(realWorld(), api, question);
  assert.equal(explanations.length, pods.length);
  return explanations;
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(bytes);
}

/** Without empty metadata: empty labels are no labels. */
function podsIn(namespace: string): readonly ValueMap[] {
  return PODS.map((metadata) => ({ ...podOf("", { namespace }), metadata: { ...metadata, namespace } }));
}

async function agrees(api: KubeConnection, namespace: string, expression: string): Promise<void> {
  const pods = podsIn(namespace);
  for (const [index, { verdict, reason }] of (await explained(api, pods)).entries()) {
    const pod = pods[index] ?? {};
    const said = verdict === "not-injected" ? "none" : verdict;
    assert.equal(said, await made(api, pod), `${expression}: ${JSON.stringify(pod["metadata"])}: ${reason}`);
    assert.doesNotMatch(reason, /unknown/);
  }
}

async function cannotTell(api: KubeConnection, index: number, expression: string): Promise<void> {
  const pod = podOf("pod", { namespace: `cond-${index}` });
  for (const { verdict, reason, message } of await explained(api, [pod])) {
    assert.deepEqual([verdict, reason], ["cannot-tell", "match-condition-unknown"], expression);
    assert.ok(message.includes(expression), message);
  }
}
