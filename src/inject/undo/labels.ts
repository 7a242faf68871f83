/** Removes the labels that injection added. */
import { trimmed } from "../../base/text/mod.ts";
import { LABEL } from "../../istio/mod.ts";
import { textAt, type ValueMap } from "../../base/value.ts";
import { withLabels } from "../pod/change.ts";
import { labelsOf, metadataOf, NETWORK_ENV, type Pod } from "../pod/pod.ts";
import { type Doubt, type Evidence, isOlder, proxyVariable, TAKEN_OUT } from "./evidence.ts";

interface Rule {
  readonly name: string;
  /** The value that injection writes; `undefined` if injection does not add the label. */
  readonly value: (pod: Pod, evidence: Evidence) => string | undefined;
  /** Set if the user may have written the same value. Users never write the value `unless`. */
  readonly doubtful?: { readonly unless?: string };
}

/**
 * Only a label with the exact value is removed, because injection keeps existing labels. The user may have written the same
 * canonical name or revision. Removing that label is harmless, because the next injection derives the same value from
 * `app` and `version`.
 */
const RULES: readonly Rule[] = [
  { name: LABEL.tlsMode, value: () => "istio" },
  { name: LABEL.canonicalName, value: canonicalName },
  // Istio's templates write an empty name for pods that have only a generateName.
  { name: LABEL.canonicalName, value: (pod, { owner }) => owner.name === "" && namedBy(pod) === "" ? "" : undefined },
  { name: LABEL.canonicalRevision, value: canonicalRevision },
  {
    name: LABEL.tunnel,
    value: (_, evidence) => proxyVariable(evidence, "ISTIO_META_ENABLE_HBONE") === "true" ? "http" : undefined,
  },
  {
    name: LABEL.network,
    value: (_, evidence) => proxyVariable(evidence, NETWORK_ENV) || undefined,
    doubtful: {},
  },
  {
    name: LABEL.revision,
    // Istio 1.6 to 1.8 adds this label to the pod. Later releases write an annotation.
    value: (pod, { revision }) => revision === undefined ? textAt(labelsOf(pod), LABEL.revision) : undefined,
    doubtful: { unless: "default" },
  },
];

export function labels(pod: Pod, evidence: Evidence, doubts: Doubt[]): Pod {
  const present = labelsOf(pod);
  const out = RULES.filter((rule) => {
    const value = rule.value(pod, evidence);
    return value !== undefined && present[rule.name] === value && !isOlder(pod, "labels", rule.name);
  });
  for (const { name, doubtful } of out) {
    if (doubtful === undefined || present[name] === doubtful.unless) continue;
    doubts.push({ field: `metadata.labels["${name}"]`, message: TAKEN_OUT });
  }
  return out.length === 0 ? pod : withLabels(pod, Object.fromEntries(out.map(({ name }) => [name, undefined])));
}

/** Computes the canonical name as Istio's sidecar template does, and as the code of releases up to 1.8 did. */
function canonicalName(pod: Pod, { owner }: Evidence): string {
  const name = namedBy(pod) || owner.name || textAt(metadataOf(pod), "generateName");
  return trimmed(name.slice(0, MAX_LABEL), (char) => "-_.".includes(char));
}

const MAX_LABEL = 63;

function namedBy(pod: Pod): string {
  return first(labelsOf(pod), [LABEL.recommendedName, LABEL.app]);
}

function canonicalRevision(pod: Pod): string {
  return first(labelsOf(pod), [LABEL.recommendedVersion, LABEL.version]) || "latest";
}

function first(labels: ValueMap, names: readonly string[]): string {
  // YAML may parse an unquoted label value as a number or a boolean.
  return names.map((name) => String(labels[name] ?? "")).find((text) => text !== "") ?? "";
}
