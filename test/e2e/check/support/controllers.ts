/** Simulates restarted pods, kubelets and controllers, because only the API server runs. */
import assert from "node:assert/strict";
import { mapAt, textAt, type ValueMap } from "../../../../src/base/value.ts";
import { containersOf } from "../../../../src/inject/mod.ts";
import { current, merged, removed } from "../../support/cluster/requests.ts";
import type { Breakage, Expected } from "./breaking.ts";
import { configured, connectAnew } from "./breaking.ts";
import {
  CONTROL_PLANE,
  type MeshCluster,
  objectNamed,
  podOf,
  type PodParts,
  removePod,
  type Reports,
  runPod,
} from "./mesh_cluster.ts";
import { secretOf, WEBHOOK } from "./mesh_cluster.ts";

/** Simulates the restart of the webhook's Deployment: new pods make a certificate, and store it and the caBundle. */
export async function restartedWebhook(mesh: MeshCluster): Promise<void> {
  const deployment = await current(mesh.cluster, objectNamed("Deployment", WEBHOOK, CONTROL_PLANE));
  const metadata = mapAt(mapAt(mapAt(deployment, "spec"), "template"), "metadata");
  const restartedAt = textAt(mapAt(metadata, "annotations"), RESTARTED_AT);
  assert.ok(Date.parse(restartedAt) > Date.now() - 60_000, JSON.stringify(metadata));
  await notRestarted(mesh);
  const certificate = mesh.authority.sign();
  const before = mesh.webhook.log().length;
  await mesh.webhook.certify(certificate);
  await mesh.webhook.logged("Serving the new certificate on new connections", before);
  await mesh.apply(secretOf(certificate));
  await connectAnew(mesh);
}

/**
 * Removes the restart annotation of the webhook's Deployment, because kubectl rejects a second restart within a second.
 */
export async function notRestarted({ cluster }: MeshCluster): Promise<void> {
  const template = { metadata: { annotations: { [RESTARTED_AT]: null } } };
  await merged(cluster, objectNamed("Deployment", WEBHOOK, CONTROL_PLANE), { spec: { template } });
}

const RESTARTED_AT = "kubectl.kubernetes.io/restartedAt";

/** Writes the webhook's ConfigMap to its volume, as the kubelet does. */
async function mountedConfiguration({ cluster, webhook }: MeshCluster): Promise<void> {
  const data = mapAt(await current(cluster, objectNamed("ConfigMap", WEBHOOK, CONTROL_PLANE)), "data");
  const before = webhook.log().length;
  for (const [key, text] of Object.entries(data)) await webhook.write(`${key}.yaml`, String(text));
  await webhook.logged("The new configuration is in force", before);
}

/** A change of the ConfigMap that also reaches the webhook. */
export function mounted({ make, heal, ...rest }: Breakage): Breakage {
  const both = (change: Breakage["make"]) => async (mesh: MeshCluster) => {
    await change(mesh);
    await mountedConfiguration(mesh);
  };
  return { ...rest, make: both(make), heal: both(heal), reacts: mountedConfiguration };
}

/** Combines two problems; `check` reports the second one. */
export function both(first: Breakage, { make, heal, reacts, ...rest }: Breakage): Breakage {
  return {
    ...rest,
    make: async (mesh) => {
      await first.make(mesh);
      await make(mesh);
    },
    reacts: async (mesh) => {
      await first.reacts?.(mesh);
      await reacts?.(mesh);
    },
    heal: async (mesh) => {
      await heal(mesh);
      await first.heal(mesh);
    },
  };
}

/** The values of a healthy mesh with the CNI plugin. */
export const withCni = configured(
  "values",
  (text) => text.replace("cni:\n    enabled: false", "cni:\n    enabled: true"),
  { expect: {}, says: /^/ },
);

/** The same problem with the CNI plugin, which captures a pod's traffic before its first container starts. */
export function capturedByNode(breakage: Breakage): Breakage {
  const { reacts: _reacts, ...enabled } = mounted(withCni);
  return both(enabled, breakage);
}

interface Workload extends PodParts {
  readonly kind: "Deployment" | "CronJob";
  /** The status that the kubelet reports for a pod. */
  readonly reports?: (pod: ValueMap) => Reports;
  /** Changes a new pod, as another injector would. */
  readonly admits?: (pod: ValueMap) => ValueMap;
}

/** Adds a workload with a pod. After the advice, it gets a new pod from its template. */
export function withWorkload(
  { kind, reports, admits = (pod) => pod, ...parts }: Workload,
  expected: Expected,
): Breakage {
  const metadata = { name: "odd", namespace: "mesh" };
  const spec = mapAt(podOf("odd", parts), "spec");
  const template = { metadata: { ...parts.metadata, labels: { app: "odd" } }, spec };
  const object: ValueMap = kind === "Deployment"
    ? { apiVersion: "apps/v1", kind, metadata, spec: { selector: { matchLabels: { app: "odd" } }, template } }
    : {
      apiVersion: "batch/v1",
      kind,
      metadata,
      spec: {
        schedule: "* * * * *",
        jobTemplate: { spec: { template: { ...template, spec: { ...spec, restartPolicy: "Never" } } } },
      },
    };
  const run = async (mesh: MeshCluster) => await runPod(mesh, admits(await podOfTemplate(mesh, kind)), reports);
  return {
    make: async (mesh) => {
      await mesh.apply(object);
      await run(mesh);
    },
    reacts: async (mesh) => {
      await removePod(mesh, "odd");
      await run(mesh);
    },
    heal: async (mesh) => {
      await removed(mesh.cluster, objectNamed(kind, "odd", "mesh"));
      await removePod(mesh, "odd");
    },
    ...expected,
  };
}

/** Changes a pod as Linkerd's injector does in a namespace that it injects. */
export function injectedByLinkerd(pod: ValueMap): ValueMap {
  if (mapAt(mapAt(pod, "metadata"), "annotations")["linkerd.io/inject"] === "disabled") return pod;
  const spec = mapAt(pod, "spec");
  const containers = [...containersOf(pod, "containers"), { name: "linkerd-proxy", image: "a" }];
  return { ...pod, spec: { ...spec, containers } };
}

/** Creates a pod from the template, as the workload's controller does. */
async function podOfTemplate({ cluster }: MeshCluster, kind: Workload["kind"]): Promise<ValueMap> {
  const spec = mapAt(await current(cluster, objectNamed(kind, "odd", "mesh")), "spec");
  const template = mapAt(kind === "Deployment" ? spec : mapAt(mapAt(spec, "jobTemplate"), "spec"), "template");
  const metadata = mapAt(template, "metadata");
  const [owner, hash] = kind === "Deployment"
    ? [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: "odd-5d4f" }, { "pod-template-hash": "5d4f" }]
    : [{ apiVersion: "batch/v1", kind: "Job", name: "odd-29000000" }, {}];
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      ...metadata,
      name: "odd",
      namespace: "mesh",
      generateName: `${owner.name}-`,
      labels: { ...mapAt(metadata, "labels"), ...hash },
      ownerReferences: [{ ...owner, uid: "1", controller: true }],
    },
    spec: { ...mapAt(template, "spec"), automountServiceAccountToken: false },
  };
}
