/** What `webhook serve` answers from, opened in order and closed in the other. */
import { connect, type ConnectOptions, type KubeConnection } from "../../core/kube/client/mod.ts";
import type { Logger } from "../../core/log.ts";
import type { PermissionName, World } from "../../core/world/mod.ts";
import type { PairNames } from "../../core/x509/mod.ts";
import { type ClusterChoice, clusterNames, nativeSetting } from "../../inject/mod.ts";
import { selfManagedCertificates, type SelfManagedOptions } from "../certificates/mod.ts";
import { injectorFromCluster } from "./cluster_injector.ts";
import { watchFacts } from "./cluster_snapshot.ts";
import type { CertificateSource } from "./source.ts";
import { certificateFromFiles } from "./file_certificate.ts";
import { type InjectorFiles, injectorFromFiles } from "./file_injector.ts";
import type { InjectorSource } from "./injector_source.ts";
import type { Sources } from "../server/start.ts";

/** Where everything is. */
export interface SourceOptions {
  readonly configuration: InjectorFiles;
  /** The ConfigMaps that are the configuration, in place of files; `undefined` if it is not the cluster's. */
  readonly fromCluster?: ClusterChoice | undefined;
  /** Files, or what the program keeps by itself. */
  readonly certificate: PairNames | SelfManagedCertificate;
  /** The cluster, if one is asked. */
  readonly connection?: ConnectOptions | undefined;
}

/** Where a certificate is kept, and for whom. */
export type SelfManagedCertificate = Pick<SelfManagedOptions, "service" | "secret" | "configurations">;

/** Sources that are in use. */
export interface OpenSources extends Sources {
  /** What they may do as long as they are used. */
  readonly permissions: readonly PermissionName[];
  close(): void;
}

/** Whether a cluster is asked. */
export function asksCluster({ fromCluster, certificate }: SourceOptions): boolean {
  return fromCluster !== undefined || "service" in certificate;
}

/**
 * Opens all of them. `waits` is called before a cluster is waited for. Rejects with a `MeshError` if one cannot be used from
 * the start; then none stays open.
 */
export async function openSources(
  world: World,
  log: Logger,
  options: SourceOptions,
  waits: () => Promise<void>,
): Promise<OpenSources> {
  const ends: (() => void)[] = [];
  const close = () => ends.splice(0).reverse().forEach((end) => end());
  const kept = <T extends { close(): void }>(source: T): T => {
    ends.push(() => source.close());
    return source;
  };
  try {
    const api = asksCluster(options) ? kept(await connect(world, options.connection)) : undefined;
    if (api !== undefined) await waits();
    const parts = { world, log, options, api };
    const injector = kept(await openInjector(parts));
    const certificate = kept(await openCertificate(parts));
    const cluster = api === undefined
      ? undefined
      : kept(await watchFacts({ api, log, clock: world.clock, asksNodes: asksNodes(world) }));
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
}

async function openInjector({ world, log, options, api }: Parts): Promise<InjectorSource> {
  const { fromCluster, configuration } = options;
  if (fromCluster === undefined || api === undefined) return await injectorFromFiles(world, log, configuration);
  const { revision } = configuration;
  return await injectorFromCluster(world, api, log, { names: clusterNames({ revision, ...fromCluster }), revision });
}

async function openCertificate({ world, log, options: { certificate }, api }: Parts): Promise<CertificateSource> {
  if ("service" in certificate && api !== undefined) {
    return selfManagedCertificates({ ...certificate, api, clock: world.clock, log });
  }
  if ("key" in certificate) return await certificateFromFiles(world.files, log, certificate);
  throw new TypeError("a certificate of a cluster needs a connection");
}
