/** Combines the configuration from the user's files, flags, and the built-in configuration. */
import { goJson } from "../../golang/go_json.ts";
import { isMap, mapAt, newMap, textAt, type ValueMap } from "../../base/value.ts";
import { toYaml } from "../../yaml/mod.ts";
import { type Source, textBesideConfig } from "./config.ts";
import { BUILT_IN } from "../default/mod.ts";
import { snapshotConfiguration, snapshotIn } from "./snapshot.ts";
import { parseValues } from "./values.ts";

export interface GivenConfiguration {
  readonly config?: Source | undefined;
  readonly values?: Source | undefined;
  readonly mesh?: Source | undefined;
  readonly revision?: string | undefined;
  /** Flags for single values. They override the values of every file. */
  readonly hub?: string | undefined;
  readonly tag?: string | undefined;
  readonly cni?: boolean | undefined;
  /** The Pod Security level that injected pods must meet. */
  readonly fit?: "baseline" | "restricted" | undefined;
}

export interface Configuration {
  readonly config: Source;
  readonly values: Source | undefined;
  readonly mesh: Source | undefined;
  /** The revision whose configuration was read from a snapshot. */
  readonly revision?: string;
}

/**
 * Returns the effective configuration. Without `config`, the built-in configuration applies, and the user's values override the
 * built-in values key by key. A ConfigMap may contain `values` and `mesh` besides `config`; a snapshot contains all three.
 * Throws a MeshError if the values are not a mapping, or if a snapshot does not contain the revision.
 */
export function configurationOf(given: GivenConfiguration): Configuration {
  const { config } = given;
  if (config === undefined) {
    const mesh = given.mesh ?? builtIn("mesh");
    return { config: builtIn("config"), values: layered(given, [builtIn("values"), given.values]), mesh };
  }
  const snapshot = snapshotIn(config);
  if (snapshot !== undefined) {
    const found = snapshotConfiguration(snapshot, given.revision, config.file);
    return { ...found, values: layered(given, [given.values ?? found.values]), mesh: given.mesh ?? found.mesh };
  }
  return {
    config,
    values: layered(given, [given.values ?? beside(config, "values")]),
    mesh: given.mesh ?? beside(config, "mesh"),
  };
}

export interface Origin {
  readonly files: Pick<GivenConfiguration, "config" | "values" | "mesh">;
  /** The control plane that provides the parts that are not in the user's files. */
  readonly cluster: { readonly server: string; readonly revision: string } | undefined;
  /** The revision whose configuration was read from a snapshot. */
  readonly revision?: string | undefined;
}

/** Describes the origin of the configuration in one line: built-in with its Istio release, files, or a cluster. */
export function describeConfiguration({ files: { config, values, mesh }, cluster, revision }: Origin): string {
  const below = () =>
    cluster === undefined
      ? `built-in for Istio ${builtInRelease()}`
      : `cluster ${cluster.server}, revision "${cluster.revision}"`;
  const parts = [
    config === undefined ? below() : `"${config.file}"`,
    ...revision === undefined ? [] : [`revision "${revision}"`],
    ...values === undefined ? [] : [`values from "${values.file}"`],
    ...mesh === undefined ? [] : [`mesh configuration from "${mesh.file}"`],
    ...config === undefined || cluster === undefined ? [] : [`the rest from the ${below()}`],
  ];
  return `Configuration: ${parts.join(", ")}`;
}

/** The Istio release of the built-in configuration, from its image tag. */
function builtInRelease(): string {
  return textAt(mapAt(parseValues(BUILT_IN.values, "built-in values"), "global"), "tag");
}

/** Returns the configuration as one ConfigMap in YAML, which `--inject-config` accepts. */
export function showConfiguration({ config, values, mesh }: Configuration): string {
  const data = {
    config: textBesideConfig(config.text, config.file, "config") ?? config.text,
    values: values === undefined ? "" : toYaml(parseValues(values.text, values.file)),
    mesh: mesh?.text ?? "",
  };
  return toYaml({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "istio-sidecar-injector" }, data });
}

function builtIn(part: keyof typeof BUILT_IN): Source {
  return { text: BUILT_IN[part], file: `built-in ${part}` };
}

function beside(config: Source, key: "values" | "mesh"): Source | undefined {
  const text = textBesideConfig(config.text, config.file, key);
  return text === undefined ? undefined : { text, file: `${config.file} (key "${key}")` };
}

/** Merges layers of values into one text; later layers override. A single layer stays unchanged. */
function layered(given: GivenConfiguration, layers: readonly (Source | undefined)[]): Source | undefined {
  const sources = layers.filter((layer) => layer !== undefined);
  const set = singleValues(given);
  const [first] = sources;
  if (sources.length <= 1 && Object.keys(set).length === 0) return first;
  const maps = [...sources.map(({ text, file }) => parseValues(text, file)), set];
  return { text: goJson(maps.reduce(overlaid, newMap())), file: sources.map(({ file }) => file).join(" and ") };
}

function singleValues({ hub, tag, cni, fit }: GivenConfiguration): ValueMap {
  const global: ValueMap = {
    ...hub === undefined ? {} : { hub },
    ...tag === undefined ? {} : { tag },
    ...fit === "restricted" ? { proxy: { seccompProfile: { type: "RuntimeDefault" } } } : {},
  };
  return {
    ...Object.keys(global).length === 0 ? {} : { global },
    // Both levels forbid the privileges that the istio-init container needs, so `fit` implies the CNI plugin.
    ...cni === true || fit !== undefined ? { pilot: { cni: { enabled: true } } } : {},
  };
}

/** Merges two layers by Helm's rule: mappings merge key by key, other values replace, null removes. */
function overlaid(below: ValueMap, above: ValueMap): ValueMap {
  const result = Object.assign(newMap(), below);
  for (const [key, value] of Object.entries(above)) {
    const old = result[key];
    if (value === null) delete result[key];
    else result[key] = isMap(old) && isMap(value) ? overlaid(old, value) : value;
  }
  return result;
}
