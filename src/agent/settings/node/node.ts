/**
 * Builds the node, which is the identity of this proxy in xDS. Source: Istio's bootstrap.GetNodeMetaData and
 * option.NodeMetadata.
 */
import { compareUtf8 } from "../../../golang/go_json.ts";
import { LABEL } from "../../../istio/configuration.ts";
import { mapAt, newMap, textAt, type Value, type ValueMap } from "../../../base/value.ts";
import type { Reading } from "../reading.ts";
import { clusterName } from "./cluster_name.ts";
import { rawMetadata, staticLabels } from "./raw_metadata.ts";
import { readTyped, TYPED_FIELDS, Unfit } from "./typed_fields.ts";

export interface NodeSource {
  readonly id: string;
  readonly env: Readonly<Record<string, string>>;
  /** Version of Istio, if `ISTIO_META_ISTIO_VERSION` is not set. */
  readonly istioVersion: string;
  readonly proxyConfig: ValueMap;
  readonly proxyMetadata: Readonly<Record<string, string>>;
  /** Labels from the downward API; `undefined` if the file does not exist. */
  readonly podLabels: ReadonlyMap<string, string> | undefined;
  readonly podAnnotations: ReadonlyMap<string, string> | undefined;
  /** Fields that the agent sets. A zero value removes the field. */
  readonly known: ValueMap;
  /** Untyped fields, such as `credential`. */
  readonly extra: Readonly<Record<string, string>>;
  /** `undefined` means that `ENABLE_HBONE` decides. */
  readonly metadataDiscovery: boolean | undefined;
}

/** Pairs of a variable of the pod and the metadata field that the variable overrides. */
const OF_POD = [["POD_NAME", "NAME"], ["POD_NAMESPACE", "NAMESPACE"], ["SERVICE_ACCOUNT", "SERVICE_ACCOUNT"]] as const;

export type ProxyNode = ReturnType<typeof nodeOf>;

/** Returns the node. Reports metadata of the wrong type as a problem, as pilot-agent does. */
export function nodeOf(source: NodeSource, into: Pick<Reading, "problems" | "warnings">) {
  const raw = rawMetadata(source.env, source.proxyMetadata, into.warnings);
  const typed = typedMetadata(raw, into.problems);
  if (typed["ISTIO_VERSION"] === undefined) typed["ISTIO_VERSION"] = source.istioVersion;
  setKnown(typed, { ...source.known, PROXY_CONFIG: source.proxyConfig, ...podFields(source.env) });
  const labels = setLabels(typed, source, into.warnings);
  const annotations = setTextMap(typed, "ANNOTATIONS", [textMapAt(typed, "ANNOTATIONS"), source.podAnnotations]);
  const discovery = source.metadataDiscovery ?? typed["ENABLE_HBONE"] === "true";
  typed["METADATA_DISCOVERY"] = String(discovery);
  Object.assign(raw, source.extra);
  return {
    /** `role~address~name.namespace~domain`. */
    id: source.id,
    cluster: clusterName({
      proxyConfig: source.proxyConfig,
      labels,
      workloadName: textAt(typed, "WORKLOAD_NAME"),
      namespace: textAt(typed, "NAMESPACE"),
    }),
    locality: splitLocality(localityText(labels)),
    metadata: sorted(Object.assign(newMap(), raw, typed)),
    /** The fields that Istio's types define, by JSON name. */
    typedMetadata: typed,
    labels,
    annotations,
  };
}

function typedMetadata(raw: ValueMap, problems: string[]): ValueMap {
  const typed = newMap();
  for (const field of TYPED_FIELDS) {
    const value = raw[field.key];
    const read = value === undefined ? undefined : readTyped(field, value);
    if (read instanceof Unfit) {
      problems.push(`The node metadata "${field.key}" must be ${read.wanted}, not ${shown(value)}`);
    } else if (read !== undefined) typed[field.key] = read;
  }
  return typed;
}

function shown(value: Value | undefined): string {
  return typeof value === "string" ? `"${value}"` : JSON.stringify(value ?? null);
}

function podFields(env: Readonly<Record<string, string>>): ValueMap {
  const fields = newMap();
  for (const [name, key] of OF_POD) {
    const value = env[name];
    if (value !== undefined) fields[key] = value;
  }
  return fields;
}

function setKnown(typed: ValueMap, known: ValueMap): void {
  for (const [key, value] of Object.entries(known)) {
    if (value === "" || value === 0 || value === false) delete typed[key];
    else typed[key] = value === true ? "true" : value;
  }
}

/**
 * Sets the labels: the pod's label file wins over `ISTIO_METAJSON_LABELS`. The locality label is written back with
 * slashes. Without a label file, `STATIC_LABELS` gets the locality label too, because Istio then uses one map for both
 * `LABELS` and `STATIC_LABELS`.
 */
function setLabels(typed: ValueMap, source: NodeSource, warnings: string[]): Map<string, string> {
  const fixed = staticLabels(source.env, warnings);
  const ofPod = source.podLabels === undefined
    ? undefined
    : new Map([...source.podLabels].filter(([key]) => key !== LABEL.podTemplateHash));
  const before = ofPod === undefined && fixed.size === 0 ? textMapAt(typed, "LABELS") : new Map<string, string>();
  const labels = new Map([...before, ...fixed, ...ofPod ?? []]);
  const locality = localityText(labels);
  if (locality !== "") {
    labels.set(ISTIO_LOCALITY, locality);
    if (ofPod === undefined && fixed.size > 0) fixed.set(ISTIO_LOCALITY, locality);
  }
  setTextMap(typed, "LABELS", [labels]);
  if (fixed.size > 0) setTextMap(typed, "STATIC_LABELS", [fixed]);
  return labels;
}

function setTextMap(
  typed: ValueMap,
  key: string,
  layers: readonly (ReadonlyMap<string, string> | undefined)[],
): Map<string, string> {
  const merged = new Map(layers.flatMap((layer) => [...layer ?? []]));
  if (merged.size === 0) delete typed[key];
  else typed[key] = sorted(Object.assign(newMap(), Object.fromEntries(merged)));
  return merged;
}

function textMapAt(typed: ValueMap, key: string): Map<string, string> {
  return new Map(Object.entries(mapAt(typed, key)).map(([name, text]) => [name, String(text)]));
}

function sorted(map: ValueMap): ValueMap {
  const result = newMap();
  for (const key of Object.keys(map).sort(compareUtf8)) result[key] = map[key] ?? null;
  return result;
}

/** The label from which the control plane reads the locality. Label values cannot contain `/`, so `.` replaces it. */
const ISTIO_LOCALITY = "istio-locality";
const TOPOLOGY_LOCALITY = "topology.istio.io/locality";

/** Returns `region/zone/subzone` from the pod's labels; `""` if unset. Source: Istio's model.GetLocalityLabel. */
export function localityText(labels: ReadonlyMap<string, string>): string {
  const label = labels.get(TOPOLOGY_LOCALITY) ?? labels.get(ISTIO_LOCALITY) ?? "";
  return label.includes("/") ? label : label.replaceAll(".", "/");
}

/** Splits a locality into its parts; unknown parts are `""`. Source: Istio's model.SplitLocalityLabel. */
function splitLocality(text: string) {
  const [region = "", zone = "", subZone = ""] = text.split("/");
  return { region, zone, subZone };
}
