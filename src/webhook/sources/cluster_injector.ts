/** Loads the configuration from ConfigMaps of the cluster, and watches these. */
import { apiPath } from "../../kube/api_path.ts";
import { errorLine, errorText, MeshError } from "../../base/errors.ts";
import { oneAtATime } from "../../base/one_at_a_time.ts";
import { ApiError, type KubeApi, type KubeObject } from "../../kube/client/mod.ts";
import { type Logger, logText } from "../../platform/log.ts";
import type { World } from "../../platform/world.ts";
import {
  type ClusterConfiguration,
  clusterConfiguration,
  type ClusterNames,
  configurationIn,
} from "../../inject/mod.ts";
import { type InjectorChoice, injectorOf } from "./injector_of.ts";
import { type InjectorSource, renewable } from "./source.ts";

/** The ConfigMaps to read, and the injector's settings. */
export interface ClusterConfigOptions extends InjectorChoice {
  readonly names: ClusterNames;
  /** Called with the reason why the first configuration cannot be read yet. */
  readonly waits?: (problem: string) => void;
}

/** Milliseconds between attempts to read the first configuration. The pause doubles after each attempt. */
const PAUSE = { first: 1_000, longest: 30_000 } as const;

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
  const first = await firstConfiguration({ world, api, log, options });
  let read = () => first;
  const make = async () => await injectorOf(read(), options, world, log);
  const { renew, ...source } = await renewable(log, { name: "configuration", make });
  let texts = textsOf(read);
  // Changes of other fields of the ConfigMaps have no effect.
  const changed = oneAtATime(async () => {
    const before = texts;
    texts = textsOf(read);
    if (texts !== before) await renew();
  });
  const stop = new AbortController();
  const watched = watchMaps({ api, log, names: options.names, signal: stop.signal }, changed);
  read = () => watched.configuration() ?? first;
  return { ...source, problem: () => source.problem() ?? watched.problem(), close: () => stop.abort() };
}

type Part = "injector" | "mesh";

interface Watching {
  readonly api: KubeApi;
  readonly log: Logger;
  readonly names: ClusterNames;
  readonly signal: AbortSignal;
}

/** Watches both ConfigMaps. Calls `changed` after each change. */
function watchMaps({ api, log, names, signal }: Watching, changed: () => Promise<void>) {
  const maps = new Map<Part, KubeObject>();
  /** Parts whose watch is in sync. */
  const synced = new Set<Part>();
  /** Errors of failed watches. */
  const failures = new Map<Part, string>();
  const watch = async (part: Part) => {
    const query = { fieldSelector: `metadata.name=${names[part]}` };
    const events = api.watch(apiPath("api/v1", "configmaps", names.namespace), query, signal, {
      synced: () => {
        synced.add(part);
        if (failures.delete(part)) log.info("Watching the ConfigMaps again");
        void changed();
      },
      failed: (error) => {
        const failure = errorLine(error);
        const text = `Cannot watch the ConfigMaps, keeping the current configuration: ${failure}`;
        if (!failures.has(part)) log.warn(logText(text));
        failures.set(part, failure);
      },
    });
    for await (const { type, object } of events) {
      if (type === "DELETED") maps.delete(part);
      else maps.set(part, object);
      void changed();
    }
  };
  void watch("injector");
  void watch("mesh");
  const mapOf = (part: Part): KubeObject => {
    const map = maps.get(part);
    if (map !== undefined) return map;
    throw new MeshError(`The ConfigMap "${names.namespace}/${names[part]}" was deleted`);
  };
  return {
    /** Returns the configuration; `undefined` until both ConfigMaps are known. Throws a `MeshError` if it is unusable. */
    configuration: () => synced.size < 2 ? undefined : configurationIn(mapOf("injector"), mapOf("mesh")),
    problem: () => [...failures.values()].map((failure) => `cannot watch the ConfigMaps: ${failure}`)[0],
  };
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

/** Returns the texts of a configuration, to compare configurations; the error text if the configuration cannot be read. */
function textsOf(read: () => ClusterConfiguration): string {
  try {
    const { config, values, mesh } = read();
    return JSON.stringify([config.text, values?.text ?? null, mesh.text]);
  } catch (error) {
    return errorText(error);
  }
}
