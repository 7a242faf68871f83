/** Merging of metrics as 1.8 does it: plain annotations only, and always written. */
import { goJson, OrderedFields } from "../../core/gojson.ts";
import type { MeshConfig } from "../../core/mesh/mod.ts";
import { parseBool } from "../../core/net.ts";
import type { ValueMap } from "../../core/value.ts";
import { MERGE_METRICS, PROMETHEUS_ENV } from "../names.ts";
import { annotation, type Pod, withEnv } from "../pod/pod.ts";

/** Whether metrics are merged: the pod's annotation says it, else the mesh. */
export function mergesMetrics(pod: Pod, mesh: MeshConfig): boolean {
  const own = annotation(pod, MERGE_METRICS);
  return (own === undefined ? undefined : parseBool(own)) ?? mesh.data["enablePrometheusMerge"] !== false;
}

/** The proxy with what the pod's annotations, or else an earlier injection, say of the application's metrics. */
export function tellMetrics(proxy: ValueMap, pod: Pod, earlier: string | undefined): ValueMap {
  const fields = ["scrape", "path", "port"].map((key) => [key, annotation(pod, `prometheus.io/${key}`) ?? ""] as const);
  const said = fields.some(([, value]) => value !== "");
  const text = said ? goJson(new OrderedFields(fields)) : earlier;
  return text === undefined ? proxy : withEnv(proxy, PROMETHEUS_ENV, text);
}

/** The annotations that send Prometheus to the agent. */
export function scrapeAnnotations(statusPort: number): Readonly<Record<string, string>> {
  return {
    "prometheus.io/port": String(statusPort),
    "prometheus.io/path": "/stats/prometheus",
    "prometheus.io/scrape": "true",
  };
}
