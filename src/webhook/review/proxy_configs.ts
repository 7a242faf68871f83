/** Applies ProxyConfig resources (networking.istio.io) to the mesh, a namespace, or selected pods. */
import { MeshError, oneLine } from "../../base/errors.ts";
import { oncePer } from "../../base/values/mod.ts";
import { goJson } from "../../golang/go_json.ts";
import {
  defaultProxyConfig,
  mergeProxyConfig,
  type MeshConfig,
  parseProxyConfig,
  type ProxyConfig,
  withDefaultProxyConfig,
} from "../../istio/mod.ts";
import { isMap, mapAt, newMap, textAt, type ValueMap } from "../../base/value.ts";
import { metadataOf } from "../../inject/mod.ts";

interface Entry {
  readonly namespace: string;
  /** Labels that select pods; `undefined` if the resource applies to all pods of its namespace. */
  readonly labels: ValueMap | undefined;
  readonly config: ProxyConfig;
}

/** The fields of a resource, each with its name in the mesh's `defaultConfig`. */
const FIELDS = [["concurrency", "concurrency"], ["environmentVariables", "proxyMetadata"], ["image", "image"]] as const;

/**
 * The ProxyConfig resources of a cluster. For a pod, later levels override earlier ones: resources in the root
 * namespace, resources in the pod's namespace, the pod's annotation, resources with a matching selector. At each level,
 * only the oldest resource counts.
 * Source: Istio's EffectiveProxyConfig.
 */
export class ProxyConfigs {
  readonly problems: readonly string[];
  readonly #entries: readonly Entry[];
  /** The merged configurations of a mesh, by namespace. */
  readonly #meshes = oncePer((_: MeshConfig) => new Map<string, MeshConfig>());

  /** `resources`: the objects from the API server, in any order. */
  constructor(resources: readonly ValueMap[]) {
    const problems: string[] = [];
    this.#entries = resources.toSorted(byAge).flatMap((resource) => {
      try {
        return [readEntry(resource)];
      } catch (error) {
        if (!(error instanceof MeshError)) throw error;
        problems.push(`Ignoring the ProxyConfig "${nameOf(resource)}": ${oneLine(error.message)}`);
        return [];
      }
    });
    this.problems = problems;
  }

  /** Returns the mesh configuration for a namespace, before annotations. Equal arguments give the same object. */
  meshFor(mesh: MeshConfig, namespace: string): MeshConfig {
    const root = this.#forAll(textAt(mesh.data, "rootNamespace"));
    const own = this.#forAll(namespace);
    const overlays = [root, own === root ? undefined : own].filter((config) => config !== undefined);
    if (overlays.length === 0) return mesh;
    const known = this.#meshes(mesh);
    const key = own === undefined ? "" : namespace;
    let merged = known.get(key);
    if (merged === undefined) {
      merged = withDefaultProxyConfig(mesh, overlays.reduce(mergeProxyConfig, defaultProxyConfig(mesh)));
      known.set(key, merged);
    }
    return merged;
  }

  /** Returns the configuration that overrides a pod's annotation; `undefined` if no selector matches. */
  overlayFor(namespace: string, labels: ValueMap): ProxyConfig | undefined {
    return this.#entries.find((entry) =>
      entry.namespace === namespace && entry.labels !== undefined && selects(entry.labels, labels)
    )?.config;
  }

  #forAll(namespace: string): ProxyConfig | undefined {
    return this.#entries.find((entry) => entry.namespace === namespace && entry.labels === undefined)?.config;
  }
}

/** Whether a selector matches labels. An empty selector does not match any pod. */
function selects(selector: ValueMap, labels: ValueMap): boolean {
  const wanted = Object.entries(selector);
  return wanted.length > 0 && wanted.every(([key, value]) => labels[key] === value);
}

function byAge(a: ValueMap, b: ValueMap): number {
  const age = (resource: ValueMap) => `${textAt(metadataOf(resource), "creationTimestamp")} ${nameOf(resource)}`;
  const [first, second] = [age(a), age(b)];
  return first < second ? -1 : Number(first > second);
}

function nameOf(resource: ValueMap): string {
  const metadata = metadataOf(resource);
  return `${textAt(metadata, "namespace")}/${textAt(metadata, "name")}`;
}

function readEntry(resource: ValueMap): Entry {
  const spec = mapAt(resource, "spec");
  const data = newMap();
  for (const [from, to] of FIELDS) {
    const value = spec[from];
    if (value !== undefined) data[to] = value;
  }
  return {
    namespace: textAt(metadataOf(resource), "namespace"),
    labels: isMap(spec["selector"]) ? mapAt(spec["selector"], "matchLabels") : undefined,
    config: parseProxyConfig(goJson(data)),
  };
}
