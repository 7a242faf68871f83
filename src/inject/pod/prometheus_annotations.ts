/** The annotations by which Prometheus finds a pod, in any spelling. */
import { withAnnotations } from "./change.ts";
import { annotationsOf, type Pod } from "./pod.ts";

/** Prometheus replaces all other characters of an annotation's name by `_`, so these spellings are equal. */
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

/** Those that releases before 1.31 know. */
export const WITHOUT_TARGETS: ReadonlySet<string> = new Set([NAMES.scrape, NAMES.port, NAMES.path]);

/** The values of a pod's annotations; `undefined` for missing ones. */
export type PrometheusAnnotations = Readonly<Record<keyof typeof NAMES, string | undefined>>;

/** The Prometheus annotations of a pod, in any spelling. */
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

/** The pod without these annotations. */
export function withoutPrometheus(pod: Pod, known = KNOWN): Pod {
  const names = Object.keys(annotationsOf(pod)).filter((name) => known.has(sanitised(name)));
  if (names.length === 0) return pod;
  return withAnnotations(pod, Object.fromEntries(names.map((name) => [name, undefined])));
}
