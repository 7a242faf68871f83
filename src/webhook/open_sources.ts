/** Opens the sources of `webhook serve`: configuration, certificate and cluster state. */
import { connect, type ConnectOptions, type KubeConnection } from "../kube/client/mod.ts";
import type { Logger } from "../platform/log.ts";
import type { PermissionName, World } from "../platform/mod.ts";
import type { PairNames } from "../golang/x509/mod.ts";
import { type ClusterChoice, clusterNames, nativeSetting } from "../inject/mod.ts";
import { selfManagedCertificates, type SelfManagedOptions } from "./certificates/self_managed.ts";
import { serverTime } from "./certificates/server_time.ts";
import { injectorFromCluster } from "./sources/cluster_injector.ts";
import { type ClusterSnapshot, watchCluster } from "./sources/cluster_snapshot.ts";
import { certificateFromFiles, type InjectorFiles, injectorFromFiles } from "./sources/files.ts";
import type { CertificateSource, InjectorSource } from "./sources/source.ts";

/** The locations of the sources. */
export interface SourceOptions {
  readonly configuration: InjectorFiles;
  /** Read the configuration from these ConfigMaps instead of files. */
  readonly fromCluster?: ClusterChoice | undefined;
  /** Certificate files, or the settings of self-managed certificates. */
  readonly certificate: PairNames | SelfManagedCertificate;
  /** Connection options, if the webhook uses the cluster. */
  readonly connection?: ConnectOptions | undefined;
}

/** The Service, the Secret and the webhook configurations of self-managed certificates. */
export type SelfManagedCertificate = Pick<SelfManagedOptions, "service" | "secret" | "configurations">;

/** The open sources. `close` closes all of them. */
export interface OpenSources {
  readonly injector: InjectorSource;
  readonly certificate: CertificateSource;
  readonly cluster: ClusterSnapshot | undefined;
  /** Deno permissions that the open sources need. */
  readonly permissions: readonly PermissionName[];
  close(): void;
}

/** Whether the webhook uses the cluster. */
export function asksCluster({ fromCluster, certificate }: SourceOptions): boolean {
  return fromCluster !== undefined || "service" in certificate;
}

/**
 * Opens all sources, and waits until the cluster provides the required data. `waitsBecause` receives the reason for waiting.
 * Rejects with a `MeshError` if a source is unusable; all sources are then closed.
 */
export async function openSources(
  world: World,
  log: Logger,
  options: SourceOptions,
  waitsBecause: (problem: () => string | undefined) => void,
): Promise<OpenSources> {
  const ends: (() => void)[] = [];
  const close = () => ends.splice(0).reverse().forEach((end) => end());
  const kept = <T extends { close(): void }>(source: T): T => {
    ends.push(() => source.close());
    return source;
  };
  try {
    const api = asksCluster(options) ? kept(await connect(world, options.connection)) : undefined;
    const parts = { world, log, options, api, waitsBecause };
    const injector = kept(await openInjector(parts));
    const certificate = kept(await openCertificate(parts));
    const cluster = api === undefined
      ? undefined
      : kept(await watchCluster({ api, log, clock: world.clock, asksNodes: asksNodes(world) }));
    waitsBecause(() => certificate.problem());
    await certificate.ready;
    return { injector, certificate, cluster, permissions: api?.permissions ?? [], close };
  } catch (error) {
    close();
    throw error;
  }
}

function asksNodes({ env }: World): boolean {
  return nativeSetting(env.get("ENABLE_NATIVE_SIDECARS")).nodes !== "never";
}

interface Parts {
  readonly world: World;
  readonly log: Logger;
  readonly options: SourceOptions;
  readonly api: KubeConnection | undefined;
  readonly waitsBecause: (problem: () => string | undefined) => void;
}

async function openInjector({ world, log, options, api, waitsBecause }: Parts): Promise<InjectorSource> {
  const { fromCluster, configuration } = options;
  if (fromCluster === undefined || api === undefined) return await injectorFromFiles(world, log, configuration);
  const { revision, istioVersion, templateEnv } = configuration;
  const names = clusterNames({ revision, ...fromCluster });
  const waits = (problem: string) => waitsBecause(() => problem);
  return await injectorFromCluster(world, api, log, { names, revision, istioVersion, templateEnv, waits });
}

async function openCertificate({ world, log, options: { certificate }, api }: Parts): Promise<CertificateSource> {
  if ("service" in certificate && api !== undefined) {
    const { clock } = world;
    return selfManagedCertificates({ ...certificate, api, clock, log, now: () => serverTime(api, clock) });
  }
  if ("key" in certificate) return await certificateFromFiles(world.files, log, certificate);
  throw new TypeError("self-managed certificates need a connection to the cluster");
}
