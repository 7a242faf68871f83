/** The configuration as the cluster keeps it: ConfigMaps that are watched. */
import { errorLine, MeshError } from "../../core/errors.ts";
import type { KubeApi, KubeObject } from "../../core/kube/client/mod.ts";
import { type Logger, logText } from "../../core/log.ts";
import type { World } from "../../core/world/world.ts";
import {
  type ClusterConfiguration,
  clusterConfiguration,
  type ClusterNames,
  configMapsPath,
  configurationIn,
  configurationOf,
  type Injector,
} from "../../inject/mod.ts";
import { injectorOf } from "./injector_of.ts";
import type { InjectorSource } from "./injector_source.ts";

/** Where the configuration is. */
export interface ClusterConfigOptions {
  readonly names: ClusterNames;
  readonly revision: string;
}

type Part = "injector" | "mesh";

/**
 * Loads the injector of the cluster's ConfigMaps and anew when they change. A ConfigMap that is deleted or wrong leaves
 * the configuration before in force, which is logged and told by `problem`; so does an API server that is away.
 * Errors: a MeshError if there is no usable configuration at first.
 */
export async function injectorFromCluster(
  world: World,
  api: KubeApi,
  log: Logger,
  options: ClusterConfigOptions,
): Promise<InjectorSource> {
  const first = await clusterConfiguration(api, options.names);
  const parts = { world, api, log, options };
  return new ClusterSource(parts, first, await load(parts, first));
}

interface Parts {
  readonly world: World;
  readonly api: KubeApi;
  readonly log: Logger;
  readonly options: ClusterConfigOptions;
}

class ClusterSource implements InjectorSource {
  readonly #parts: Parts;
  readonly #stop = new AbortController();
  readonly #handlers = new Set<() => void>();
  readonly #maps = new Map<Part, KubeObject>();
  /** Parts whose watch has told what is there. */
  readonly #synced = new Set<Part>();
  /** Why a watch does not run. */
  readonly #failures = new Map<Part, string>();
  /** What `#injector` was made from: a ConfigMap changes in other ways too. */
  #texts: string;
  #injector: Injector;
  #problem: string | undefined;
  /** Changes come into force in their order. */
  #renewed: Promise<void> = Promise.resolve();

  constructor(parts: Parts, first: ClusterConfiguration, injector: Injector) {
    this.#parts = parts;
    this.#texts = textsOf(first);
    this.#injector = injector;
    void this.#watch("injector");
    void this.#watch("mesh");
  }

  current(): Injector {
    return this.#injector;
  }

  problem(): string | undefined {
    const [failure] = this.#failures.values();
    return this.#problem ?? (failure === undefined ? undefined : `the cluster is not heard: ${failure}`);
  }

  onChange(handler: () => void): () => void {
    this.#handlers.add(handler);
    return () => this.#handlers.delete(handler);
  }

  close(): void {
    this.#stop.abort();
  }

  async #watch(part: Part): Promise<void> {
    const { api, options: { names } } = this.#parts;
    const query = { fieldSelector: `metadata.name=${names[part]}` };
    const events = api.watch(configMapsPath(names.namespace), query, this.#stop.signal, {
      synced: () => this.#heard(part),
      failed: (error) => this.#unheard(part, errorLine(error)),
    });
    for await (const { type, object } of events) {
      if (type === "DELETED") this.#maps.delete(part);
      else this.#maps.set(part, object);
      this.#renew();
    }
  }

  #heard(part: Part): void {
    this.#synced.add(part);
    if (this.#failures.delete(part)) {
      this.#parts.log.info("The cluster is heard again");
      this.#tell();
    }
    this.#renew();
  }

  #unheard(part: Part, failure: string): void {
    if (this.#failures.has(part)) return;
    this.#failures.set(part, failure);
    this.#parts.log.warn(logText(`The cluster is not heard, the configuration stays as it is: ${failure}`));
    this.#tell();
  }

  #renew(): void {
    this.#renewed = this.#renewed.then(() => this.#apply());
  }

  /** Once both ConfigMaps are known, each change of either counts. */
  async #apply(): Promise<void> {
    if (this.#synced.size < 2) return;
    const before = this.#problem;
    try {
      this.#problem = undefined;
      const configuration = configurationIn(this.#map("injector"), this.#map("mesh"));
      if (this.#isInForce(configuration)) return before === undefined ? undefined : this.#tell();
      this.#injector = await load(this.#parts, configuration);
      this.#texts = textsOf(configuration);
      this.#parts.log.info("The new configuration is in force");
    } catch (error) {
      if (!(error instanceof MeshError)) throw error;
      this.#problem = errorLine(error);
      if (this.#problem === before) return;
      const text = `The new configuration cannot be used, the one before stays in force: ${this.#problem}`;
      this.#parts.log.error(logText(text));
    }
    this.#tell();
  }

  #isInForce(configuration: ClusterConfiguration): boolean {
    return textsOf(configuration) === this.#texts;
  }

  #map(part: Part): KubeObject {
    const map = this.#maps.get(part);
    if (map !== undefined) return map;
    const { namespace, [part]: name } = this.#parts.options.names;
    throw new MeshError(`The ConfigMap "${namespace}/${name}" is gone`);
  }

  #tell(): void {
    this.#handlers.forEach((handler) => handler());
  }
}

function textsOf({ config, values, mesh }: ClusterConfiguration): string {
  return JSON.stringify([config.text, values?.text ?? null, mesh.text]);
}

/** Throws a MeshError for what cannot be used. */
async function load({ world, log, options }: Parts, configuration: ClusterConfiguration): Promise<Injector> {
  const injector = await injectorOf({ ...configurationOf(configuration), revision: options.revision }, world);
  for (const note of injector.notes) log.warn(logText(note));
  return injector;
}
