/** Reads and removes the annotations by which Prometheus finds a pod. Prometheus treats several spellings as equal. */
import { withAnnotations } from "./change.ts";
import { annotationsOf, type Pod } from "./pod.ts";

/** Normalizes an annotation's name as Prometheus does: names that differ only in special characters are equal. */
export function sanitised(name: string): string {
  return name.replace(/[^a-zA-Z0-9_]/g, "_");
}

const NAMES = {
  scrape: sanitised("prometheus.io/scrape"),
  port: sanitised("prometheus.io/port"),
  path: sanitised("prometheus.io/path"),
  targets: sanitised("prometheus.istio.io/scrape-targets"),
};

const KNOWN: ReadonlySet<string> = new Set(Object.values(NAMES));

/** Normalized names of the annotations that releases before 1.31 read. */
export const WITHOUT_TARGETS: ReadonlySet<string> = new Set([NAMES.scrape, NAMES.port, NAMES.path]);

/** The values of a pod's Prometheus annotations; `undefined` if an annotation is missing. */
export type PrometheusAnnotations = Readonly<Record<keyof typeof NAMES, string | undefined>>;

/** Reads a pod's Prometheus annotations, in any spelling. */
export function prometheusAnnotations(pod: Pod): PrometheusAnnotations {
  const found = new Map<string, string>();
  for (const [name, value] of Object.entries(annotationsOf(pod))) {
    if (typeof value === "string") found.set(sanitised(name), value);
  }
  return {
    scrape: found.get(NAMES.scrape),
    port: found.get(NAMES.port),
    path: found.get(NAMES.path),
    targets: found.get(NAMES.targets),
  };
}

export function prometheusPort(pod: Pod): string | undefined {
  return prometheusAnnotations(pod).port;
}

/** Removes the Prometheus annotations in `known` from a pod, in any spelling. */
export function withoutPrometheus(pod: Pod, known = KNOWN): Pod {
  const names = Object.keys(annotationsOf(pod)).filter((name) => known.has(sanitised(name)));
  if (names.length === 0) return pod;
  return withAnnotations(pod, Object.fromEntries(names.map((name) => [name, undefined])));
}
