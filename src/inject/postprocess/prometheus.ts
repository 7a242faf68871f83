/**
 * Merged metrics: Prometheus scrapes the agent, and the agent scrapes the application. The user's annotations go to the
 * agent in an environment variable; new annotations point to the agent.
 */
import { InjectionError } from "../injection_error.ts";
import { goJson, OrderedFields } from "../../golang/gojson/mod.ts";
import { ANNOTATION, type MeshConfig } from "../../istio/mod.ts";
import { parseBool } from "../../golang/go_bool.ts";
import { mapsAt, textAt } from "../../base/value.ts";
import { PROMETHEUS_ENV } from "../names.ts";
import { PROXY_PORTS } from "../pod/conflicts.ts";
import { mapProxy, withAnnotations, withEnv } from "../pod/change.ts";
import { annotation, annotationsOf, findProxy, type Pod } from "../pod/pod.ts";
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

/** The first release that knows several targets, and refuses ports that cannot be scraped. */
const KNOWS_TARGETS = 31;

/** The first release that reads `prometheus.io/scrape` and other spellings. */
const KNOWS_SPELLINGS = 13;

interface AgentOf {
  readonly statusPort: string;
  /** The release 1.`minor` of the configuration. */
  readonly minor: number;
}

/**
 * Points Prometheus to the agent, unless the pod or the mesh disables it, or it already does.
 * Errors: a MeshError for a port that cannot be scraped.
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

/** As releases before 1.13. */
function mergedExactly(pod: Pod, port: string): Pod {
  const own = (name: string) => annotation(pod, `prometheus.io/${name}`);
  if (own("port") === port) return pod;
  const kept = { scrape: own("scrape"), path: own("path"), port: own("port"), targets: undefined };
  return withAnnotations(informed(pod, kept, []), scrapeAnnotations(port));
}

/** The pod whose agent knows the user's annotations. */
function informed(pod: Pod, annotations: PrometheusAnnotations, targets: readonly Target[]): Pod {
  const text = scrapeText(annotations, targets);
  return text === undefined ? pod : mapProxy(pod, (proxy) => withEnv(proxy, PROMETHEUS_ENV, text));
}

/** The annotations that send Prometheus to the agent. */
export function scrapeAnnotations(statusPort: string): Readonly<Record<string, string>> {
  return {
    "prometheus.io/port": statusPort,
    "prometheus.io/path": "/stats/prometheus",
    "prometheus.io/scrape": "true",
  };
}

/** Whether metrics are merged: the pod's annotation decides, else the mesh. */
export function mergesMetrics(pod: Pod, mesh: MeshConfig): boolean {
  const own = annotation(pod, ANNOTATION.mergeMetrics);
  return (own === undefined ? undefined : parseBool(own)) ?? mesh.data["enablePrometheusMerge"] !== false;
}

/** `port[:path]` items of a comma list; no items if one has no port. */
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
      hint: "Use the port on which the application serves its metrics",
    });
  }
}

/** The ports that will be scraped: `prometheus.io/port` only without targets. */
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

/** The agent's setting; `undefined` if the user has no annotations about scraping. */
function scrapeText(annotations: PrometheusAnnotations, targets: readonly Target[]): string | undefined {
  // Older agents do not read targets: give them the first one.
  const { path, port } = targets[0] ?? annotations;
  const fields = { scrape: annotations.scrape ?? "", path: path ?? "", port: port ?? "" };
  if (Object.values(fields).every((text) => text === "")) return undefined;
  const list = targets.map(({ port, path }) => new OrderedFields([["port", port], ["path", path]]));
  return goJson(
    new OrderedFields([...Object.entries(fields), ...(list.length === 0 ? [] : [["targets", list] as const])]),
  );
}

/** The proxy's variable with the port of merged metrics over mutual TLS, from a template or proxyMetadata. */
export const SECURE_PORT_ENV = "ENVOY_SECURE_MERGED_METRICS_PORT";

const SECURE_PORT = sanitised(ANNOTATION.securePort);

/** Annotates the pod with that port for Prometheus, unless it has the annotation in any spelling. */
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
