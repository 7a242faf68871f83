import { UsageError } from "../../../base/errors.ts";
import type { KubeApi } from "../../../kube/client/mod.ts";
import type { PermissionName, World } from "../../../platform/world.ts";
import type { ClusterChoice, Judge, NativeSetting } from "../../../inject/mod.ts";
import { readConfiguration } from "../../configuration.ts";
import { findingsFor } from "../../manifests/findings.ts";
import { openManifestOutput } from "../../manifests/manifest_output.ts";
import { changeManifests, permissionsFor, readManifestFlags } from "../../manifests/manifests.ts";
import type { InjectInput } from "./inject_flags.ts";

type Flags = InjectInput["flags"];
type InjectModule = typeof import("../../../inject/mod.ts");

/** Runs `inject --as-webhook`. Returns exit code 1 if a resource failed. */
export async function runAsWebhook(world: World, { flags }: InjectInput): Promise<number> {
  const [inject, { webhookJudge }] = await Promise.all([
    import("../../../inject/mod.ts"),
    import("../../../check/mod.ts"),
  ]);
  const read = await readManifestFlags(world, flags, inject);
  const findings = await findingsFor(world, flags, inject);
  const cluster = await clusterOf(world, flags, inject);
  try {
    using output = await openManifestOutput(world, flags, read.target, read.inputs);
    world.permissions.keepOnly([...new Set([...cluster.permissions, ...permissionsFor(flags, read.target)])]);
    const { judge, prepare } = webhookJudge({
      api: cluster.api,
      clock: world.clock,
      choice: cluster.choice,
      namespace: flags.namespace ?? cluster.namespace,
      native: nativeOf(world, flags, inject),
    });
    return await changeManifests(world, flags, {
      ...read,
      change: inject.injectionBy(flags.nativeSidecars === "jobs" ? withNativeJobs(judge) : judge),
      notes: [`Configuration: webhooks of ${cluster.api.server}`],
      warnings: [],
      done: "injected",
      ...{ prepare, output, findings },
    });
  } finally {
    cluster.close();
  }
}

interface Cluster {
  readonly api: KubeApi;
  readonly choice: ClusterChoice;
  /** The namespace where kubectl creates objects without a namespace. */
  readonly namespace: string | undefined;
  readonly permissions: readonly PermissionName[];
  close(): void;
}

async function clusterOf(world: World, flags: Flags, inject: InjectModule): Promise<Cluster> {
  const { fromCluster, injectConfig, istioNamespace, injectConfigMapName, meshConfigMapName } = flags;
  if (fromCluster && injectConfig !== undefined) {
    throw new UsageError("The flag --as-webhook accepts only one of --from-cluster and --inject-config", {
      hint: "the cluster and its snapshot may decide differently",
    });
  }
  if (!fromCluster) return await clusterOfSnapshot(world, flags, inject);
  const { connect } = await import("../../../kube/client/mod.ts");
  const api = await connect(world, flags);
  return {
    api,
    choice: { istioNamespace, injectConfigMapName, meshConfigMapName },
    namespace: api.namespace ?? "default",
    permissions: api.permissions,
    close: () => api.close(),
  };
}

async function clusterOfSnapshot(world: World, flags: Flags, inject: InjectModule): Promise<Cluster> {
  const { config } = await readConfiguration(world, flags);
  const snapshot = config === undefined ? undefined : inject.snapshotIn(config);
  if (config === undefined || snapshot === undefined) {
    throw new UsageError(
      `"${flags.injectConfig}" is not a snapshot of a cluster, so the injected pods are unknown`,
      { hint: 'create a snapshot with "kubectl mesh config snapshot", or use --from-cluster' },
    );
  }
  const { snapshotCluster } = await import("../../../check/mod.ts");
  return { ...snapshotCluster(snapshot, config.file), namespace: undefined, permissions: [], close: () => {} };
}

/** Returns the same judge, but with native sidecars for pods that run to completion. */
function withNativeJobs(judge: Judge): Judge {
  return (...asked) => {
    const judgment = judge(...asked);
    return { ...judgment, injectors: judgment.injectors.map((injector) => ({ ...injector, nativeJobs: true })) };
  };
}

/** Returns the user's setting for native sidecars; `undefined` lets the nodes decide. */
function nativeOf(world: World, { nativeSidecars }: Flags, inject: InjectModule): NativeSetting | undefined {
  if (nativeSidecars === "true") return { native: true, nodes: "never" };
  if (nativeSidecars === "auto") return inject.nativeSetting("auto");
  const setting = world.env.get("ENABLE_NATIVE_SIDECARS") ?? "";
  return setting === "" ? undefined : inject.nativeSetting(setting);
}
