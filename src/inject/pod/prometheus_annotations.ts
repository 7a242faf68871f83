/** Reads and removes the annotations by which Prometheus finds a pod. Prometheus treats several spellings as equal. */
import { withAnnotations } from "./change.ts";
import { annotationsOf, type Pod } from "./pod.ts";

/** Normalizes an annotation's name as Prometheus does: names that differ only in special characters are equal. */
export function sanitised(name: string): string {
  return name.replace(/[^a-zA-Z0-9_]/g, "_");
}

/** The values of a pod's Prometheus annotations. */
export type PrometheusAnnotations = Partial<Record<"scrape" | "port" | "path" | "targets", string>>;

/** The annotations by their normalized names. */
const FIELDS: ReadonlyMap<string, keyof PrometheusAnnotations> = new Map([
  ["prometheus_io_scrape", "scrape"],
  ["prometheus_io_port", "port"],
  ["prometheus_io_path", "path"],
  ["prometheus_istio_io_scrape_targets", "targets"],
]);

const KNOWN = [...FIELDS.keys()];

/** Normalized names of the annotations that releases before 1.31 read. */
export const WITHOUT_TARGETS: readonly string[] = KNOWN.slice(0, 3);

/** Reads a pod's Prometheus annotations, in any spelling. */
export function prometheusAnnotations(pod: Pod): PrometheusAnnotations {
  const found: PrometheusAnnotations = {};
  for (const [name, value] of Object.entries(annotationsOf(pod))) {
    const field = FIELDS.get(sanitised(name));
    if (field !== undefined && typeof value === "string") found[field] = value;
  }
  return found;
}

/** Removes the Prometheus annotations in `known` from a pod, in any spelling. */
export function withoutPrometheus(pod: Pod, known: readonly string[] = KNOWN): Pod {
  const names = Object.keys(annotationsOf(pod)).filter((name) => known.includes(sanitised(name)));
  if (names.length === 0) return pod;
  return withAnnotations(pod, Object.fromEntries(names.map((name) => [name, undefined])));
}
