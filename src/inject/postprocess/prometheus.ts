/**
 * Merges metrics: Prometheus scrapes the agent, and the agent scrapes the application. An environment variable passes the
 * user's annotations to the agent. New annotations point Prometheus to the agent.
 */
import { InjectionError } from "../injection_error.ts";
import { goJson, OrderedFields } from "../../golang/go_json.ts";
import { ANNOTATION, type MeshConfig, PROXY_PORTS } from "../../istio/mod.ts";
import { parseBool } from "../../golang/go_bool.ts";
import { mapsAt, textAt } from "../../base/value.ts";
import { mapProxy, withAnnotations, withEnv } from "../pod/change.ts";
import { annotation, annotationsOf, findProxy, type Pod, PROMETHEUS_ENV } from "../pod/pod.ts";
import {
  type PrometheusAnnotations,
  prometheusAnnotations,
  sanitised,
  WITHOUT_TARGETS,
  withoutPrometheus,
} from "../pod/prometheus_annotations.ts";

const DEFAULT_PATH = "/metrics";

interface Target {
  readonly port: string;
  readonly path: string;
}

/** Minor version of the first release that supports several scrape targets, and rejects ports that cannot be scraped. */
const KNOWS_TARGETS = 31;

/** Minor version of the first release that reads `prometheus.io/scrape` and accepts other spellings. */
const KNOWS_SPELLINGS = 13;

interface AgentOf {
  readonly statusPort: string;
  readonly minor: number;
}

/**
 * Points Prometheus to the agent, unless the pod or the mesh turns this off or the annotations point to the agent already.
 * Throws a MeshError for a port that cannot be scraped.
 */
export function mergePrometheus(pod: Pod, mesh: MeshConfig, { statusPort, minor }: AgentOf): Pod {
  if (!mergesMetrics(pod, mesh)) return pod;
  if (minor < KNOWS_SPELLINGS) return mergedExactly(pod, statusPort);
  const annotations = prometheusAnnotations(pod);
  const isOff = annotations.scrape !== undefined && parseBool(annotations.scrape) === false;
  if (isOff || annotations.port === statusPort) return pod;
  const knowsTargets = minor >= KNOWS_TARGETS;
  const targets = knowsTargets ? targetsOf(annotations.targets) : [];
  if (knowsTargets) check(annotations, targets, statusPort);
  const bare = withoutPrometheus(informed(pod, annotations, targets), knowsTargets ? undefined : WITHOUT_TARGETS);
  return withAnnotations(bare, scrapeAnnotations(statusPort));
}

/** Merges metrics as releases before 1.13 did: they read annotations only in their exact spelling. */
function mergedExactly(pod: Pod, port: string): Pod {
  const own = (name: string) => annotation(pod, `prometheus.io/${name}`) ?? "";
  if (own("port") === port) return pod;
  const kept = { scrape: own("scrape"), path: own("path"), port: own("port") };
  return withAnnotations(informed(pod, kept, []), scrapeAnnotations(port));
}

/** Sets the agent's variable with the user's annotations. */
function informed(pod: Pod, annotations: PrometheusAnnotations, targets: readonly Target[]): Pod {
  const text = scrapeText(annotations, targets);
  return text === undefined ? pod : mapProxy(pod, (proxy) => withEnv(proxy, PROMETHEUS_ENV, text));
}

/** The annotations that point Prometheus to the agent. */
export function scrapeAnnotations(statusPort: string): Readonly<Record<string, string>> {
  return {
    "prometheus.io/port": statusPort,
    "prometheus.io/path": "/stats/prometheus",
    "prometheus.io/scrape": "true",
  };
}

/** Whether to merge a pod's metrics, by its annotation or (without the annotation) the mesh configuration. */
export function mergesMetrics(pod: Pod, mesh: MeshConfig): boolean {
  const own = annotation(pod, ANNOTATION.mergeMetrics);
  return (own === undefined ? undefined : parseBool(own)) ?? mesh.data["enablePrometheusMerge"] !== false;
}

/** Parses a comma-separated list of `port[:path]`. Returns an empty list if any item has no port. */
function targetsOf(text: string | undefined): readonly Target[] {
  const items = (text ?? "").split(",").map((item) => item.trim()).filter((item) => item !== "");
  const targets = items.map((item) => {
    const colon = item.indexOf(":");
    if (colon < 0) return { port: item, path: DEFAULT_PATH };
    return { port: item.slice(0, colon).trim(), path: item.slice(colon + 1).trim() || DEFAULT_PATH };
  });
  return targets.some(({ port }) => port === "") ? [] : targets;
}

function check(annotations: PrometheusAnnotations, targets: readonly Target[], statusPort: string): void {
  for (const { port, name } of scrapedPorts(annotations, targets)) {
    const why = problemOf(port, statusPort);
    if (why === undefined) continue;
    throw new InjectionError("invalid-annotation", `The annotation "${name}" has the port "${port}", ${why}`, {
      place: { field: `metadata.annotations["${name}"]` },
      hint: "use the port on which the application serves its metrics",
    });
  }
}

/** The ports to scrape. `prometheus.io/port` counts only if no targets are set. */
function scrapedPorts(annotations: PrometheusAnnotations, targets: readonly Target[]) {
  if (targets.length > 0) return targets.map(({ port }) => ({ port, name: "prometheus.istio.io/scrape-targets" }));
  return (annotations.port ?? "") === "" ? [] : [{ port: annotations.port ?? "", name: "prometheus.io/port" }];
}

function problemOf(text: string, statusPort: string): string | undefined {
  const port = /^[+-]?\d+$/.test(text) ? Number(text) : 0;
  if (port < 1 || port > 65535) return "which is not a number from 1 to 65535";
  if (String(port) === statusPort) return "which is the agent's own port";
  // Scraping the proxy for the application would loop or duplicate metrics.
  const use = PROXY_PORTS.get(port);
  return use === undefined ? undefined : `which the proxy uses for ${use}`;
}

/** The value of the agent's variable; `undefined` if the user has no Prometheus annotations. */
function scrapeText(annotations: PrometheusAnnotations, targets: readonly Target[]): string | undefined {
  // Older agents do not read `targets`, so write the first target to the old fields too.
  const { path = "", port = "" } = targets[0] ?? annotations;
  const fields = { scrape: annotations.scrape ?? "", path, port };
  if (Object.values(fields).every((text) => text === "")) return undefined;
  const list = targets.map(({ port, path }) => new OrderedFields([["port", port], ["path", path]]));
  return goJson(
    new OrderedFields([...Object.entries(fields), ...(list.length === 0 ? [] : [["targets", list] as const])]),
  );
}

/** Variable with the port where the proxy serves merged metrics over mutual TLS. A template or proxyMetadata sets it. */
export const SECURE_PORT_ENV = "ENVOY_SECURE_MERGED_METRICS_PORT";

const SECURE_PORT = sanitised(ANNOTATION.securePort);

/** Writes the port in SECURE_PORT_ENV to an annotation for Prometheus, unless the pod already has the annotation. */
export function annotateSecurePort(pod: Pod): Pod {
  const proxy = findProxy(pod);
  const known = Object.keys(annotationsOf(pod)).some((name) => sanitised(name) === SECURE_PORT);
  if (proxy === undefined || known) return pod;
  const ports = mapsAt(proxy, "env").filter((item) => item["name"] === SECURE_PORT_ENV).map((item) =>
    textAt(item, "value")
  );
  const port = ports.find((text) => text !== "" && text !== "0");
  return port === undefined ? pod : withAnnotations(pod, { [ANNOTATION.securePort]: port });
}
