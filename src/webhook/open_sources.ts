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

export interface SourceOptions {
  readonly configuration: InjectorFiles;
  /** Read the configuration from these ConfigMaps instead of files. */
  readonly fromCluster?: ClusterChoice | undefined;
  /** Certificate files, or the settings of self-managed certificates. */
  readonly certificate: PairNames | SelfManagedCertificate;
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
  const { configuration, fromCluster } = options;
  const { clock, env, files } = world;
  using open = new DisposableStack();
  const kept = <T extends { close(): void }>(source: T): T => open.adopt(source, () => source.close());
  const api = asksCluster(options) ? kept(await connect(world, options.connection)) : undefined;
  const waits = (problem: string) => waitsBecause(() => problem);
  const injector = kept(
    fromCluster === undefined || api === undefined
      ? await injectorFromFiles(world, log, configuration)
      : await injectorFromCluster(world, api, log, {
        ...configuration,
        names: clusterNames({ revision: configuration.revision, ...fromCluster }),
        waits,
      }),
  );
  const certificate = kept(await openCertificate(options.certificate, { api, clock, files, log }));
  const asksNodes = nativeSetting(env.get("ENABLE_NATIVE_SIDECARS")).nodes !== "never";
  const cluster = api === undefined ? undefined : kept(await watchCluster({ api, log, clock, asksNodes }));
  waitsBecause(() => certificate.problem());
  await certificate.ready;
  const all = open.move();
  return { injector, certificate, cluster, permissions: api?.permissions ?? [], close: () => all.dispose() };
}

async function openCertificate(
  certificate: SourceOptions["certificate"],
  { api, clock, files, log }: Pick<World, "clock" | "files"> & {
    readonly api: KubeConnection | undefined;
    readonly log: Logger;
  },
): Promise<CertificateSource> {
  if ("key" in certificate) return await certificateFromFiles(files, log, certificate);
  if (api === undefined) throw new TypeError("self-managed certificates need a connection to the cluster");
  return selfManagedCertificates({ ...certificate, api, clock, log, now: () => serverTime(api, clock) });
}
