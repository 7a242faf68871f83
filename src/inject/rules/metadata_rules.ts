/** Rules about labels and annotations that are misspelt, deprecated, or have no effect on their object. */
import { MeshError } from "../../base/errors.ts";
import { closest } from "../../base/text/mod.ts";
import { mapAt, type ValueMap } from "../../base/value.ts";
import { ANNOTATION, misspelledAnnotations, parseProxyConfig, unknownProxyFields } from "../../istio/mod.ts";
import { LABEL } from "../../istio/annotations/labels.ts";
import { DEPRECATED } from "../../istio/annotations/names.ts";
import { annotation, annotationsOf, labelsOf, metadataOf } from "../pod/pod.ts";
import { isNative, podField, type PodRule, type Problem, type Subject } from "./rule.ts";

export const METADATA_RULES: readonly PodRule[] = [
  {
    id: "metadata-misplaced",
    severity: "warning",
    istio: "IST0107",
    title: "A label or annotation for injection is on the controller instead of its pods",
    on: "any",
    problems: misplaced,
  },
  {
    id: "annotation-misspelt",
    severity: "warning",
    istio: "IST0108",
    title: "An annotation of Istio is misspelt",
    on: "any",
    problems: (subject) =>
      misspelledAnnotations(texts(annotationsOf(subject.pod)), subject.era).map(
        ({ annotation: name, value, meant }) => ({
          field: podField(subject, `metadata.annotations["${name}"]`),
          message: `Unknown annotation "${name}" with the value "${value}"`,
          fix: meantOr(meant),
        }),
      ),
  },
  {
    id: "annotation-deprecated",
    severity: "note",
    istio: "IST0135",
    title: "An annotation of Istio is deprecated; it still has an effect, but a newer setting replaces it",
    on: "any",
    problems: deprecated,
  },
  {
    id: "label-misspelt",
    severity: "warning",
    title: "A label of Istio is misspelt",
    on: "any",
    problems: misspeltLabels,
  },
  {
    id: "proxy-config-key",
    severity: "warning",
    title: 'A key of "proxy.istio.io/config" is unknown and has no effect',
    on: "any",
    problems: unknownProxyKeys,
  },
  {
    id: "native-value",
    severity: "warning",
    title: 'The annotation "sidecar.istio.io/nativeSidecar" is neither "true" nor "false" and has no effect',
    on: "injected",
    problems(subject) {
      const value = annotation(subject.pod, ANNOTATION.nativeSidecar);
      if (value === undefined || value === "true" || value === "false") return [];
      return [{
        field: podField(subject, `metadata.annotations["${ANNOTATION.nativeSidecar}"]`),
        message: `The annotation "${ANNOTATION.nativeSidecar}" is "${value}", which is neither "true" nor "false"`,
        fix: 'write "true" or "false"',
      }];
    },
  },
  {
    id: "hold-native",
    severity: "warning",
    title: '"holdApplicationUntilProxyStarts" has no effect on a native sidecar',
    on: "injected",
    problems(subject) {
      const config = annotation(subject.pod, ANNOTATION.proxyConfig) ?? "";
      if (!isNative(subject) || !/holdApplicationUntilProxyStarts["']?\s*:\s*["']?true/.test(config)) return [];
      return [{
        field: podField(subject, `metadata.annotations["${ANNOTATION.proxyConfig}"]`),
        message:
          '"holdApplicationUntilProxyStarts" has no effect: a native sidecar is ready before the application starts',
        fix: "remove it",
      }];
    },
  },
  {
    id: "ambient-label",
    severity: "warning",
    title: "A pod with a sidecar has the label for ambient mode",
    on: "injected",
    problems(subject) {
      if (labelsOf(subject.pod)[LABEL.dataplaneMode] !== "ambient") return [];
      return [{
        field: podField(subject, `metadata.labels["${LABEL.dataplaneMode}"]`),
        message: "The pod has the label for ambient mode, but ambient mode ignores pods with a sidecar",
        fix: `remove the label, or set "${LABEL.inject}" to "false"`,
      }];
    },
  },
];

/** Prefixes of annotations that Istio reads only on pods. */
const OF_PODS = [
  "sidecar.istio.io/",
  "proxy.istio.io/",
  "traffic.sidecar.istio.io/",
  "status.sidecar.istio.io/",
  "readiness.status.sidecar.istio.io/",
  "inject.istio.io/",
];

/** Annotations that injection itself writes. */
const WRITTEN: readonly string[] = [ANNOTATION.status, ANNOTATION.overrides];

/**
 * Finds labels and annotations on the controller that have an effect only on the pod. Skips a key that the pod also
 * sets: `sidecar.istio.io/inject` may be a label or an annotation there, and any other key must be an annotation.
 */
function misplaced(subject: Subject): readonly Problem[] {
  const { manifest, kind, path, pod } = subject;
  if (path.length === 0) return [];
  return (["labels", "annotations"] as const).flatMap((list) =>
    Object.keys(mapAt(metadataOf(manifest), list)).filter((key) => {
      const isRead = list === "labels" ? key === LABEL.inject : OF_PODS.some((prefix) => key.startsWith(prefix));
      const strings = key === LABEL.inject ? [labelsOf(pod), annotationsOf(pod)] : [annotationsOf(pod)];
      return isRead && !WRITTEN.includes(key) && strings.every((each) => each[key] === undefined);
    }).map((key) => ({
      field: `metadata.${list}["${key}"]`,
      message: `The ${list.slice(0, -1)} "${key}" is on the ${kind}, where it has no effect`,
      fix: `move it to ${[...path, "metadata", list].join(".")}`,
    }))
  );
}

/**
 * Finds deprecated annotations, unless the pod also has the label that replaces them. Source: istio.io/api, and Istio's
 * pkg/config/analysis.
 */
function deprecated(subject: Subject): readonly Problem[] {
  if (subject.era !== "current") return [];
  const hasLabelToo = (key: string) => key === LABEL.inject && labelsOf(subject.pod)[key] !== undefined;
  return Object.keys(annotationsOf(subject.pod)).flatMap((key) => {
    const fix = DEPRECATED.get(key);
    return fix === undefined || hasLabelToo(key) ? [] : [{
      field: podField(subject, `metadata.annotations["${key}"]`),
      message: `The annotation "${key}" is deprecated`,
      fix,
    }];
  });
}

/** Istio's labels that are valid on pods, besides those in LABEL. Source: istio.io/api label. */
const OTHER_LABELS = [
  "istio.io/use-waypoint",
  "istio.io/use-waypoint-namespace",
  "istio.io/ingress-use-waypoint",
  "istio.io/waypoint-for",
  "istio.io/gateway-name",
  "networking.istio.io/gatewayPort",
  "topology.istio.io/cluster",
  "topology.istio.io/subzone",
  "operator.istio.io/component",
  "install.operator.istio.io/owning-resource",
];

const KNOWN_LABELS: readonly string[] = [...Object.values(LABEL), ...OTHER_LABELS].filter((key) =>
  key.includes("istio")
);

function misspeltLabels(subject: Subject): readonly Problem[] {
  return Object.entries(labelsOf(subject.pod)).flatMap(([key, value]) => {
    if (!key.includes("istio") || KNOWN_LABELS.includes(key)) return [];
    const meant = closest(key, KNOWN_LABELS);
    return meant === undefined ? [] : [{
      field: podField(subject, `metadata.labels["${key}"]`),
      message: `Unknown label "${key}" with the value "${value}"`,
      fix: meantOr(meant),
    }];
  });
}

function meantOr(meant: string | undefined): string {
  return meant === undefined ? "remove it or correct its name" : `did you mean "${meant}"?`;
}

function unknownProxyKeys(subject: Subject): readonly Problem[] {
  const text = annotation(subject.pod, ANNOTATION.proxyConfig);
  return (text === undefined ? [] : unknownIn(text, subject)).map(({ field, meant }) => ({
    field: podField(subject, `metadata.annotations["${ANNOTATION.proxyConfig}"]`),
    message: `The key "${field}" of the annotation "${ANNOTATION.proxyConfig}" is unknown and has no effect`,
    fix: meantOr(meant),
  }));
}

function unknownIn(text: string, { era }: Subject) {
  try {
    return unknownProxyFields(parseProxyConfig(text, "", era));
  } catch (error) {
    // Injection rejects such an annotation and reports the reason.
    if (error instanceof MeshError) return [];
    throw error;
  }
}

function texts(strings: ValueMap): Record<string, string> {
  const entries = Object.entries(strings).filter((entry): entry is [string, string] => typeof entry[1] === "string");
  return Object.fromEntries(entries);
}
