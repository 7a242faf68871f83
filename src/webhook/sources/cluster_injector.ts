/** Loads the configuration from ConfigMaps of the cluster, and watches these. */
import { errorLine, MeshError } from "../../base/errors.ts";
import { ApiError, type KubeApi, type KubeObject } from "../../kube/client/mod.ts";
import { type Logger, logText } from "../../platform/log.ts";
import type { World } from "../../platform/world.ts";
import {
  type ClusterConfiguration,
  clusterConfiguration,
  type ClusterNames,
  configMapsPath,
  configurationIn,
  configurationOf,
  type Injector,
} from "../../inject/mod.ts";
import { type InjectorChoice, injectorOf } from "./injector_of.ts";
import type { InjectorSource } from "./source.ts";

/** The ConfigMaps to read, and the injector's settings. */
export interface ClusterConfigOptions extends InjectorChoice {
  readonly names: ClusterNames;
  /** Called with the reason why the first configuration cannot be read yet. */
  readonly waits?: (problem: string) => void;
}

/** Milliseconds between attempts to read the first configuration. The pause doubles after each attempt. */
const PAUSE = { first: 1_000, longest: 30_000 } as const;

type Part = "injector" | "mesh";

/**
 * Loads the injector from ConfigMaps, and reloads it after each change. If a ConfigMap is deleted or invalid, or the API server
 * is unreachable, logs this, reports it in `problem`, and keeps the previous configuration. For the first configuration, retries
 * until the API server responds. Rejects with a `MeshError` if the first configuration is unusable or a ConfigMap is missing.
 */
export async function injectorFromCluster(
  world: World,
  api: KubeApi,
  log: Logger,
  options: ClusterConfigOptions,
): Promise<InjectorSource> {
  const parts = { world, api, log, options };
  const first = await firstConfiguration(parts);
  return new ClusterSource(parts, first, await load(parts, first));
}

interface Parts {
  readonly world: World;
  readonly api: KubeApi;
  readonly log: Logger;
  readonly options: ClusterConfigOptions;
}

/** Retries, because the API server may be unreachable, or a permission may be granted later. */
async function firstConfiguration({ world, api, log, options }: Parts): Promise<ClusterConfiguration> {
  let logged: string | undefined;
  for (let pause: number = PAUSE.first;; pause = Math.min(pause * 2, PAUSE.longest)) {
    try {
      const configuration = await clusterConfiguration(api, options.names);
      if (logged !== undefined) log.info("Read the configuration from the API server");
      return configuration;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const problem = errorLine(error);
      options.waits?.(problem);
      if (problem !== logged) log.warn(logText(`Cannot read the configuration yet, trying again: ${problem}`));
      logged = problem;
    }
    await world.clock.sleep(pause * (0.5 + Math.random() / 2));
  }
}

class ClusterSource implements InjectorSource {
  readonly #parts: Parts;
  readonly #stop = new AbortController();
  readonly #handlers: (() => void)[] = [];
  readonly #maps = new Map<Part, KubeObject>();
  /** Parts whose watch is in sync. */
  readonly #synced = new Set<Part>();
  /** Errors of failed watches. */
  readonly #failures = new Map<Part, string>();
  /** The texts from which `#injector` was loaded. Changes of other fields of a ConfigMap are ignored. */
  #texts: string;
  #injector: Injector;
  #problem: string | undefined;
  /** Settles when the last change is applied. Changes are applied one at a time, in order. */
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
    return this.#problem ?? (failure === undefined ? undefined : `cannot watch the ConfigMaps: ${failure}`);
  }

  onChange(handler: () => void): void {
    this.#handlers.push(handler);
  }

  close(): void {
    this.#stop.abort();
  }

  async #watch(part: Part): Promise<void> {
    const { api, options: { names } } = this.#parts;
    const query = { fieldSelector: `metadata.name=${names[part]}` };
    const events = api.watch(configMapsPath(names.namespace), query, this.#stop.signal, {
      synced: () => this.#onSynced(part),
      failed: (error) => this.#onFailed(part, errorLine(error)),
    });
    for await (const { type, object } of events) {
      if (type === "DELETED") this.#maps.delete(part);
      else this.#maps.set(part, object);
      this.#renew();
    }
  }

  #onSynced(part: Part): void {
    this.#synced.add(part);
    if (this.#failures.delete(part)) {
      this.#parts.log.info("Watching the ConfigMaps again");
      this.#notify();
    }
    this.#renew();
  }

  #onFailed(part: Part, failure: string): void {
    if (this.#failures.has(part)) return;
    this.#failures.set(part, failure);
    this.#parts.log.warn(logText(`Cannot watch the ConfigMaps, keeping the current configuration: ${failure}`));
    this.#notify();
  }

  #renew(): void {
    this.#renewed = this.#renewed.then(() => this.#apply());
  }

  /** Applies a change once both ConfigMaps are known. */
  async #apply(): Promise<void> {
    if (this.#synced.size < 2) return;
    const before = this.#problem;
    try {
      this.#problem = undefined;
      const configuration = configurationIn(this.#map("injector"), this.#map("mesh"));
      if (this.#isInForce(configuration)) return before === undefined ? undefined : this.#notify();
      this.#injector = await load(this.#parts, configuration);
      this.#texts = textsOf(configuration);
      this.#parts.log.info("The new configuration is in force");
    } catch (error) {
      if (!(error instanceof MeshError)) throw error;
      this.#problem = errorLine(error);
      if (this.#problem === before) return;
      const text = `Cannot use the new configuration, keeping the previous one: ${this.#problem}`;
      this.#parts.log.error(logText(text));
    }
    this.#notify();
  }

  #isInForce(configuration: ClusterConfiguration): boolean {
    return textsOf(configuration) === this.#texts;
  }

  #map(part: Part): KubeObject {
    const map = this.#maps.get(part);
    if (map !== undefined) return map;
    const { namespace, [part]: name } = this.#parts.options.names;
    throw new MeshError(`The ConfigMap "${namespace}/${name}" was deleted`);
  }

  #notify(): void {
    this.#handlers.forEach((handler) => handler());
  }
}

function textsOf({ config, values, mesh }: ClusterConfiguration): string {
  return JSON.stringify([config.text, values?.text ?? null, mesh.text]);
}

/** Loads the injector. Rejects with a `MeshError` if the configuration is unusable. */
async function load({ world, log, options }: Parts, configuration: ClusterConfiguration): Promise<Injector> {
  const { revision, istioVersion, templateEnv } = options;
  const note = (text: string) => log.warn(logText(text));
  const injector = await injectorOf(
    { ...configurationOf(configuration), revision, istioVersion, templateEnv },
    world,
    note,
  );
  injector.notes.forEach(note);
  return injector;
}
