/** What `webhook serve` answers from, opened in order and closed in the other. */
import { connect, type ConnectOptions } from "../core/kube/client/mod.ts";
import type { Logger } from "../core/log.ts";
import type { PermissionName, World } from "../core/world/mod.ts";
import { type ClusterChoice, clusterNames } from "../inject/mod.ts";
import { injectorFromCluster } from "./cluster_config.ts";
import { watchFacts } from "./cluster_facts.ts";
import type { PairNames } from "./server/certificate_facts.ts";
import { certificateFromFiles } from "./server/file_certificate.ts";
import { type InjectorFiles, injectorFromFiles } from "./server/file_injector.ts";
import type { Sources } from "./server/start.ts";

/** Where everything is. */
export interface SourceOptions {
  readonly configuration: InjectorFiles;
  /** The cluster whose ConfigMaps are the configuration, in place of files; `undefined` if none is asked. */
  readonly cluster?: ClusterOptions | undefined;
  readonly certificate: PairNames;
}

/** Which cluster, and where its configuration is. */
export interface ClusterOptions {
  readonly connection: ConnectOptions;
  readonly choice: ClusterChoice;
}

/** Sources that are in use. */
export interface OpenSources extends Sources {
  /** What they may do as long as they are used. */
  readonly permissions: readonly PermissionName[];
  close(): void;
}

/** Opens all of them. Rejects with a `MeshError` if one cannot be used from the start; then none stays open. */
export async function openSources(world: World, log: Logger, options: SourceOptions): Promise<OpenSources> {
  const ends: (() => void)[] = [];
  const close = () => ends.splice(0).reverse().forEach((end) => end());
  try {
    const configuration = await openConfiguration(world, log, options, ends);
    const certificate = await certificateFromFiles(world.files, log, options.certificate);
    ends.push(() => certificate.close());
    await certificate.ready;
    return { ...configuration, certificate, close };
  } catch (error) {
    close();
    throw error;
  }
}

type Configuration = Pick<OpenSources, "injector" | "cluster" | "permissions">;

async function openConfiguration(
  world: World,
  log: Logger,
  options: SourceOptions,
  ends: (() => void)[],
): Promise<Configuration> {
  const { cluster, configuration } = options;
  if (cluster === undefined) {
    const injector = await injectorFromFiles(world, log, configuration);
    ends.push(() => injector.close());
    return { injector, permissions: [] };
  }
  const api = await connect(world, cluster.connection);
  ends.push(() => api.close());
  const names = clusterNames({ revision: configuration.revision, ...cluster.choice });
  const injector = await injectorFromCluster(world, api, log, { names, revision: configuration.revision });
  ends.push(() => injector.close());
  const facts = await watchFacts(api, log, world.clock);
  ends.push(() => facts.close());
  return { injector, cluster: facts, permissions: api.permissions };
}
