/** Restores the annotations by which Prometheus finds the application's metrics. */
import { ANNOTATION } from "../../istio/mod.ts";
import { isMap, listAt, textAt, type Value, type ValueMap } from "../../base/value.ts";
import { withAnnotations } from "../pod/change.ts";
import { annotation, type Pod, PROMETHEUS_ENV } from "../pod/pod.ts";
import { parseObject } from "../pod/status.ts";
import { scrapeAnnotations, SECURE_PORT_ENV } from "../postprocess/prometheus.ts";
import { withoutPrometheus } from "../pod/prometheus_annotations.ts";
import { type Doubt, type Evidence, isOlder, proxyVariable } from "./evidence.ts";

const PORT = ANNOTATION.prometheusPort;

/** Restores the user's annotations from the agent's variable, and removes the annotations that point to the agent. */
export function prometheus(pod: Pod, evidence: Evidence, doubts: Doubt[]): Pod {
  const bare = withoutSecurePort(pod, evidence);
  if (!asksAgent(bare)) return bare;
  const kept = parseObject(proxyVariable(evidence, PROMETHEUS_ENV));
  if (kept !== undefined) return withAnnotations(withoutPrometheus(bare), annotationsFrom(kept));
  if (isOlder(bare, "annotations", PORT)) return bare;
  if (evidence.proxy === undefined) {
    const message = "removed; its value before injection is unknown, because the pod has no proxy";
    doubts.push({ field: `metadata.annotations["${PORT}"]`, message });
  }
  return withoutPrometheus(bare);
}

function asksAgent(pod: Pod): boolean {
  const port = annotation(pod, PORT);
  return port !== undefined &&
    Object.entries(scrapeAnnotations(port)).every(([name, value]) => annotation(pod, name) === value);
}

/** Builds the user's annotations. If targets are recorded, `port` and `path` only repeat the first target. */
function annotationsFrom(kept: ValueMap): Record<string, string> {
  const targets = listAt(kept, "targets").map(targetText).join(",");
  const single = targets !== "" ? {} : {
    [ANNOTATION.prometheusPath]: textAt(kept, "path"),
    [PORT]: textAt(kept, "port"),
  };
  const all = { [ANNOTATION.prometheusScrape]: textAt(kept, "scrape"), ...single, [ANNOTATION.scrapeTargets]: targets };
  return Object.fromEntries(Object.entries(all).filter(([, text]) => text !== ""));
}

function targetText(target: Value): string {
  return isMap(target) ? `${textAt(target, "port")}:${textAt(target, "path")}` : "";
}

function withoutSecurePort(pod: Pod, evidence: Evidence): Pod {
  const port = annotation(pod, ANNOTATION.securePort);
  if (port === undefined || port !== proxyVariable(evidence, SECURE_PORT_ENV)) return pod;
  return isOlder(pod, "annotations", ANNOTATION.securePort)
    ? pod
    : withAnnotations(pod, { [ANNOTATION.securePort]: undefined });
}
