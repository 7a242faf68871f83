/** Labels that injection adds. */
import { trimmed } from "../../base/text/mod.ts";
import { LABEL } from "../../istio/mod.ts";
import { textAt, type ValueMap } from "../../base/value.ts";
import { NETWORK_ENV } from "../names.ts";
import { labelsOf, metadataOf, type Pod, withLabels } from "../pod/pod.ts";
import { type Evidence, proxyVariable } from "./evidence.ts";
import { isOlder } from "./order.ts";
import { type Doubt, TAKEN_OUT, type Undone } from "./undone.ts";

/** A label of injection. */
interface Rule {
  readonly name: string;
  /** The value that injection gives; `undefined` if it adds none. */
  readonly value: (pod: Pod, evidence: Evidence) => string | undefined;
  /** The user may have written the same; not so with `unless`, which is the value for most pods. */
  readonly doubtful?: { readonly unless?: string };
}

/**
 * A label with another value is the user's: injection keeps what it finds. `app` and `version` tell what injection made of
 * them, so nothing is lost with the canonical names of a user who wrote the same.
 */
const RULES: readonly Rule[] = [
  { name: LABEL.tlsMode, value: () => "istio" },
  { name: LABEL.canonicalName, value: canonicalName },
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
    // Releases from 1.6 to 1.8 add it to the pod; those after them write an annotation.
    value: (pod, { revision }) => revision === undefined ? textAt(labelsOf(pod), LABEL.revision) : undefined,
    doubtful: { unless: "default" },
  },
];

/** Takes out the labels of injection. */
export function labels(pod: Pod, evidence: Evidence): Undone {
  const present = labelsOf(pod);
  const out = RULES.filter((rule) => {
    const value = rule.value(pod, evidence);
    return value !== undefined && present[rule.name] === value && !isOlder(pod, "labels", rule.name);
  });
  const doubts = out.filter(({ name, doubtful }) => doubtful !== undefined && present[name] !== doubtful.unless)
    .map(({ name }): Doubt => ({ field: `metadata.labels["${name}"]`, message: TAKEN_OUT }));
  if (out.length === 0) return { pod, doubts };
  return { pod: withLabels(pod, Object.fromEntries(out.map(({ name }) => [name, undefined]))), doubts };
}

/** Source: the label in Istio's sidecar template, and in the code of releases up to 1.8. */
function canonicalName(pod: Pod, { owner }: Evidence): string {
  const name = first(labelsOf(pod), [LABEL.recommendedName, LABEL.app]) || owner.name ||
    textAt(metadataOf(pod), "generateName");
  return trimmed(name.slice(0, MOST), (char) => "-_.".includes(char));
}

/** The length of a label's value in Kubernetes. */
const MOST = 63;

function canonicalRevision(pod: Pod): string {
  return first(labelsOf(pod), [LABEL.recommendedVersion, LABEL.version]) || "latest";
}

function first(labels: ValueMap, names: readonly string[]): string {
  return names.map((name) => textAt(labels, name)).find((text) => text !== "") ?? "";
}
