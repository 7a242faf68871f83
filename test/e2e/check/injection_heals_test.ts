/** The advice of `check injection`, executed in a real cluster: the workload is injected, and no other one changes. */
import assert from "node:assert/strict";
import type { ValueMap } from "../../../src/base/value.ts";
import {
  allContainers,
  configurationOf,
  injectPod,
  metadataOf,
  newInjector,
  podIn,
  podOwner,
} from "../../../src/inject/mod.ts";
import { clusterTarget } from "../../../src/check/injection/target.ts";
import { read } from "../../house/source.ts";
import { MESH_COMMAND } from "../../support/programs/mesh.ts";
import { testWhen } from "../../support/test_when.ts";
import { until } from "../../support/until.ts";
import { needsCluster } from "../support/cluster/cluster.ts";
import { removed } from "../support/cluster/requests.ts";
import { labelNamespace } from "./support/breaking.ts";
import { explainAll, explainOne, follow, injectedIn, namespaceLabels } from "./support/cures.ts";
import { type MeshCluster, podOf, startMesh } from "./support/mesh_cluster.ts";

const INJECT = "sidecar.istio.io/inject";
const APP = { name: "app", image: "example.com/app:1" };

interface Parts {
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly own?: Readonly<Record<string, string>>;
  readonly spec?: ValueMap;
}

function template({ labels = {}, annotations = {}, spec = {} }: Parts): ValueMap {
  return { metadata: { labels: { app: "odd", ...labels }, annotations }, spec: { containers: [APP], ...spec } };
}

function deployment(parts: Parts): ValueMap {
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "odd", namespace: "plain", labels: parts.own ?? {} },
    spec: { selector: { matchLabels: { app: "odd" } }, template: template(parts) },
  };
}

function cronJob(parts: Parts): ValueMap {
  const jobTemplate = { spec: { template: template({ ...parts, spec: { restartPolicy: "Never" } }) } };
  const metadata = { name: "odd", namespace: "plain" };
  return { apiVersion: "batch/v1", kind: "CronJob", metadata, spec: { schedule: "* * * * *", jobTemplate } };
}

function job(parts: Parts): ValueMap {
  const spec = { template: template({ ...parts, spec: { restartPolicy: "Never" } }) };
  return { apiVersion: "batch/v1", kind: "Job", metadata: { name: "odd", namespace: "plain" }, spec };
}

/** A workload that is not injected. */
interface State {
  readonly labels?: Readonly<Record<string, string>>;
  readonly object: ValueMap;
  readonly reason: string;
}

const ON = { "istio-injection": "enabled" };

const STATES: Readonly<Record<string, State>> = {
  "a namespace without label": { object: deployment({}), reason: "namespace-not-labelled" },
  "a namespace that is disabled": {
    labels: { "istio-injection": "disabled" },
    object: deployment({}),
    reason: "namespace-disabled",
  },
  "a misspelt label": {
    labels: { "istio-injection": "on" },
    object: deployment({}),
    reason: "namespace-label-misspelt",
  },
  "a misspelt label, and a pod that asks": {
    labels: { "istio-injection": "on" },
    object: deployment({ labels: { [INJECT]: "true" } }),
    reason: "namespace-label-misspelt",
  },
  "a revision of nobody": {
    labels: { "istio.io/rev": "1-9" },
    object: deployment({}),
    reason: "revision-not-served",
  },
  "a pod with a revision of nobody": {
    object: deployment({ labels: { "istio.io/rev": "1-9" } }),
    reason: "revision-not-served",
  },
  "a Deployment that opted out": {
    labels: ON,
    object: deployment({ labels: { [INJECT]: "false" } }),
    reason: "label-inject-false",
  },
  "a Deployment that opted out by annotation": {
    labels: ON,
    object: deployment({ annotations: { [INJECT]: "false" } }),
    reason: "annotation-inject-false",
  },
  "a CronJob that opted out": {
    labels: ON,
    object: cronJob({ labels: { [INJECT]: "false" } }),
    reason: "label-inject-false",
  },
  "a Job that opted out": { labels: ON, object: job({ labels: { [INJECT]: "false" } }), reason: "label-inject-false" },
  "a pod that opted out": {
    labels: ON,
    object: podOf("odd", { namespace: "plain", labels: { [INJECT]: "false" } }),
    reason: "label-inject-false",
  },
  "a pod in a namespace without label": {
    object: podOf("odd", { namespace: "plain" }),
    reason: "namespace-not-labelled",
  },
  "the network of the node": {
    labels: ON,
    object: deployment({ spec: { hostNetwork: true } }),
    reason: "pod-host-network",
  },
  "a label on the Deployment itself": {
    object: deployment({ own: { [INJECT]: "true" } }),
    reason: "namespace-not-labelled",
  },
};

testWhen(
  needsCluster(),
  "the first advice of check injection makes a workload injected, and nothing else",
  async (t) => {
    const mesh = await startMesh();
    try {
      await mesh.apply({ ...deployment({}), metadata: { name: "other", namespace: "plain" } });
      for (const [name, state] of Object.entries(STATES)) await t.step(name, () => joins(mesh, state));
      await t.step("the control plane's namespace is never invited", () => staysOut(mesh));
      for (const [kind, object] of Object.entries(BY_HAND)) {
        await t.step(`a ${kind} whose manifest contains the sidecar leaves the mesh`, () => leaves(mesh, object));
      }
    } finally {
      await mesh.stop();
    }
  },
);

const INJECTOR = newInjector({
  ...configurationOf({}),
  revision: "default",
  byHand: true,
  env: () => undefined,
  now: () => new Date(),
});

/** The template that `inject` writes. */
function injectedTemplate(rest: ValueMap = {}): ValueMap {
  const pod = template({ spec: rest });
  return injectPod(pod, podOwner(pod, "plain"), INJECTOR).pod;
}

const BY_HAND: Readonly<Record<string, ValueMap>> = {
  Deployment: { ...deployment({}), spec: { selector: { matchLabels: { app: "odd" } }, template: injectedTemplate() } },
  CronJob: {
    ...cronJob({}),
    spec: {
      schedule: "* * * * *",
      jobTemplate: { spec: { template: injectedTemplate({ restartPolicy: "Never" }) } },
    },
  },
  Pod: {
    apiVersion: "v1",
    kind: "Pod",
    ...injectedTemplate(),
    metadata: { ...metadataOf(injectedTemplate()), name: "odd", namespace: "plain" },
  },
};

/** The command of docs/upgrade.md that lists pods with a sidecar. */
async function podsWithSidecars({ cluster }: MeshCluster): Promise<string> {
  const [, command = ""] = /^\| check that no pod has a sidecar[^|]*\| `(.*)` \|$/m.exec(read("docs/upgrade.md")) ?? [];
  const { stdout } = await cluster.shell(command.replaceAll("\\|", "|"), MESH_COMMAND);
  return stdout;
}

/**
 * The manifest is created in one run and applied in the other: `kubectl apply` removes only fields that it applied before,
 * so the advice must not need it.
 */
async function leaves(mesh: MeshCluster, object: ValueMap): Promise<void> {
  const workload = `${String(object["kind"]).toLowerCase()}/odd`;
  const isPod = object["kind"] === "Pod";
  const file = await Deno.makeTempFile({ suffix: ".json" });
  try {
    await Deno.writeTextFile(file, JSON.stringify(object));
    for (const verb of ["create", "apply"]) {
      await mesh.kubectl(verb, "-f", file);
      const before = await explainOne(mesh, workload, "plain");
      const isLive = isPod && verb === "create";
      assert.equal(before.reason === "proxy-in-manifest", !isLive);
      assert.equal(before.hasProblem, isLive);
      const [leaving, ...others] = before.fixes.flatMap(({ alternatives }) => alternatives)
        .filter(({ risk }) => risk === "takes-out");
      assert.ok(leaving !== undefined && others.length === 0, JSON.stringify(before.fixes));
      assert.equal(/^plain +odd /m.test(await podsWithSidecars(mesh)), isPod);
      await follow(mesh, leaving, { isDecided: true });
      assert.doesNotMatch(await podsWithSidecars(mesh), /^plain /m);
      const { manifest, row } = await clusterTarget(mesh.api, workload, "plain");
      assert.deepEqual(allContainers(podIn(manifest, row)).map(({ name }) => name), ["app"]);
      assert.equal((await explainOne(mesh, workload, "plain")).verdict, "not-injected");
      await removed(mesh.cluster, object);
    }
  } finally {
    await Deno.remove(file);
  }
}

async function joins(mesh: MeshCluster, { labels = {}, object, reason }: State): Promise<void> {
  const restore = await namespaceLabels(mesh);
  const workload = `${String(object["kind"]).toLowerCase()}/odd`;
  try {
    await labelNamespace(mesh, "plain", labels);
    await mesh.apply(object);
    const before = await explainOne(mesh, workload, "plain");
    assert.deepEqual([before.verdict, before.reason], ["not-injected", reason]);
    const inMesh = injectedIn(await explainAll(mesh));
    for (const { alternatives: [first] } of before.fixes) {
      assert.ok(first !== undefined && first.scope !== "nothing" && first.commands.length > 0, JSON.stringify(first));
      assert.equal(first.risk, "none");
      await follow(mesh, first);
    }
    // The API server sees other labels of a namespace a little later.
    await until(async () => (await explainOne(mesh, workload, "plain")).verdict === "injected", "Never injected");
    const after = injectedIn(await explainAll(mesh));
    const others = after.filter((each) => !each.endsWith("/odd"));
    assert.deepEqual(others, inMesh);
  } finally {
    await removed(mesh.cluster, object);
    await restore();
  }
}

/** Its own opt-out is right, and a label of its namespace would call the webhook for itself. */
async function staysOut(mesh: MeshCluster): Promise<void> {
  const { metadata: _metadata, ...rest } = deployment({ labels: { [INJECT]: "false" } });
  await mesh.apply({ ...rest, metadata: { name: "plane", namespace: "istio-system" } });
  const { verdict, fixes } = await explainOne(mesh, "deployment/plane", "istio-system");
  assert.deepEqual([verdict, fixes], ["not-injected", []]);
}
