import { UsageError } from "../../../base/errors.ts";
import type { KubeApi } from "../../../kube/client/mod.ts";
import type { PermissionName, World } from "../../../platform/world.ts";
import type { ClusterChoice, InjectionSnapshot } from "../../../inject/mod.ts";
import { nativeOption, readConfiguration } from "../../configuration.ts";
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
  const native = inject.nativeChoice(nativeOption(flags.nativeSidecars), world.env.get("ENABLE_NATIVE_SIDECARS"));
  try {
    using output = await openManifestOutput(world, flags, read.target, read.inputs);
    world.permissions.keepOnly([...new Set([...cluster.permissions, ...permissionsFor(flags, read.target)])]);
    const { judge, prepare } = webhookJudge({
      api: cluster.api,
      clock: world.clock,
      choice: cluster.choice,
      snapshot: cluster.snapshot,
      namespace: flags.namespace ?? cluster.namespace,
      native,
    });
    return await changeManifests(world, flags, {
      ...read,
      change: inject.injectionBy(judge),
      notes: [
        `Configuration: webhooks of ${cluster.api.server}`,
        ...native?.warning === undefined ? [] : [native.warning],
      ],
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
  readonly snapshot: InjectionSnapshot | undefined;
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
    snapshot: undefined,
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
