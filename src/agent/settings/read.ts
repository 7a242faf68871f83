/**
 * Reads and validates all settings of a run: command line, environment and files. Reports all problems in one error.
 */
import { MeshError, UsageError } from "../../base/errors.ts";
import { ANNOTATION, type ProxyConfig, type ProxySettings, proxySettings } from "../../istio/configuration.ts";
import { valueAt } from "../../base/value.ts";
import type { World } from "../../platform/world.ts";
import { readScrapeTargets, type ScrapeTarget } from "../metrics/scrape_targets.ts";
import { readProbers } from "../status/probes/config.ts";
import { discoverAddresses, ipModeOf } from "./pod/addresses.ts";
import { type ProgramName, readCommandLine } from "./command_line.ts";
import { readDns } from "./control_plane/dns.ts";
import { isRole, type Role, ROLES } from "./flags.ts";
import { readHealth } from "./control_plane/health.ts";
import { readIdentity } from "./control_plane/identity.ts";
import { logSettings } from "./log_settings.ts";
import { readPodInfo } from "./pod/pod.ts";
import { effectiveProxyConfig, meshFileOf } from "./proxy_config.ts";
import { readBootstrap } from "./envoy/bootstrap.ts";
import { readDrain, readEnvoy } from "./envoy/envoy.ts";
import type { ProxyNode } from "./node/node.ts";
import { readNode } from "./node/read_node.ts";
import { flagText, isOn, type Reading } from "./reading.ts";
import { Variables } from "./variables.ts";
import { readXds } from "./control_plane/xds.ts";

/** The agent's settings: validated, plain data. Each reader documents its fields. */
export type AgentSettings = Awaited<ReturnType<typeof readAll>>;

export interface ReadOptions {
  readonly name: ProgramName;
  /**
   * The settings from startup; `undefined` at startup. On a later read, the agent may itself serve the SDS socket,
   * which then must not count as the socket of another program.
   */
  readonly before?: { readonly bootstrap: { readonly hasCustomSds: boolean } };
}

/**
 * Reads and validates the settings; waits up to two minutes for the pod's addresses. Throws a UsageError for an invalid
 * command line, otherwise a MeshError. One message lists all problems.
 */
export async function readSettings(
  world: World,
  args: readonly string[],
  options: ReadOptions,
): Promise<AgentSettings> {
  const { name } = options;
  const line = readCommandLine(args, name);
  const warnings = [...line.warnings];
  const reading: Reading = {
    world,
    given: line.given,
    variables: new Variables(world.env, warnings),
    usage: [...line.problems],
    problems: [],
    warnings,
  };
  warnings.push(...reading.variables.retired());
  const role = roleOf(reading, line.words, name);
  const settings = await readAll(reading, { ...options, role });
  refuse(reading, name);
  return settings;
}

const HELP: Readonly<Record<ProgramName, string>> = { agent: "kubectl mesh agent", "pilot-agent": "pilot-agent proxy" };

function refuse({ usage, problems }: Reading, name: ProgramName): void {
  const text = [...usage, ...problems].join("; ");
  if (usage.length > 0) throw new UsageError(text, { hint: `"${HELP[name]} --help" lists flags and variables` });
  if (problems.length > 0) throw new MeshError(text);
}

/** Returns the role, which is the first argument; `pilot-agent` ignores further arguments. */
function roleOf({ usage, warnings }: Reading, words: readonly string[], name: ProgramName): Role {
  const [role = "sidecar", ...rest] = words;
  if (rest.length > 0) (name === "agent" ? usage : warnings).push(`Unexpected arguments "${rest.join(" ")}"`);
  if (isRole(role)) return role;
  usage.push(`Unknown role "${role}": use ${ROLES.join(", ")}`);
  return "sidecar";
}

async function readAll(reading: Reading, { role, name, before }: ReadOptions & { readonly role: Role }) {
  const { world, variables } = reading;
  const log = readLog(reading);
  const info = await readPodInfo(world, variables.text("identitySocket"), reading, before?.bootstrap.hasCustomSds);
  const podAnnotations = info.annotations ?? new Map<string, string>();
  const { config: proxyConfig, isDrainChosen } = await effectiveProxyConfig({
    ...reading,
    annotations: podAnnotations,
  });
  const instanceIp = flagText(reading, "nodeIp") || variables.text("instanceIp");
  const excluded = (podAnnotations.get(ANNOTATION.excludeInterfaces) ?? "").split(",");
  const addresses = await discoverAddresses(world, instanceIp, excluded);
  const proxy = proxySettings(proxyConfig);
  const ports = readPorts(variables, proxy);
  const pod = { role, info, proxyConfig, addresses };
  const node = readNode(reading, { ...pod, ports });
  const envoy = await readEnvoy(reading, proxyConfig);
  if (envoy.customConfigFile === "") checkTracing(proxyConfig, node, reading.problems);
  const probes = readProbes(reading);
  const host = probes.legacyLocalhost ? "localhost" : addresses[0] ?? "localhost";
  return {
    /** The program that the agent runs as. `pilot-agent` writes the bootstrap with Istio's exact text. */
    program: name,
    role,
    node,
    namespace: variables.text("podNamespace"),
    /** `INSTANCE_IP` as given; `""` if unset. */
    instanceIp,
    addresses,
    ipMode: ipModeOf(addresses),
    proxyConfig,
    proxy,
    ports,
    drain: readDrain(reading, proxyConfig, isDrainChosen),
    envoy,
    bootstrap: readBootstrap(reading, { ...pod, node, logJson: log.format === "json" }),
    probes,
    metrics: readMetrics(reading, role, ports.status),
    identity: readIdentity(reading, proxy.discoveryAddress),
    dns: readDns(reading, role, node),
    xds: readXds(reading, proxy),
    /** Health checks of a workload without a kubelet; `undefined` if not configured. */
    health: readHealth(proxyConfig.data, host, reading.warnings),
    log,
    /** Path of the mesh configuration. The file is optional. */
    meshFile: meshFileOf(reading),
    /** Whether the agent applies the rules for traffic capture. */
    redirectTraffic: isOn(reading, "redirectTraffic"),
    watch: isOn(reading, "watch"),
    restart: readRestart(reading),
    warnings: reading.warnings,
  };
}

function readLog(reading: Reading) {
  return logSettings({
    format: flagText(reading, "logFormat"),
    level: flagText(reading, "logLevel"),
    istioJson: isOn(reading, "istioLogJson"),
    istioLevels: flagText(reading, "istioLogLevel"),
    environmentFormat: reading.variables.text("logFormat"),
  }, reading.usage);
}

function readRestart(reading: Reading): "never" | "on-failure" {
  const policy = flagText(reading, "restart");
  if (policy === "on-failure") return policy;
  if (policy !== "" && policy !== "never") {
    reading.usage.push(`Unknown value "${policy}" for "--restart": use never or on-failure`);
  }
  return "never";
}

/** Reads the ports of the agent and Envoy; 0 means that the port is not served. */
function readPorts(variables: Variables, proxy: ProxySettings) {
  return {
    admin: proxy.proxyAdminPort,
    status: proxy.statusPort,
    envoyStatus: variables.number("envoyStatusPort"),
    prometheus: variables.number("prometheusPort"),
    secureMetrics: variables.number("secureMetricsPort"),
    secureMergedMetrics: variables.number("secureMergedMetricsPort"),
  };
}

function readProbes({ variables, problems }: Reading) {
  const read = readProbers(variables.text("appProbers"));
  problems.push(...read.problems.map((problem) => `"ISTIO_KUBE_APP_PROBERS": ${problem}`));
  return {
    probers: read.probers,
    legacyLocalhost: variables.bool("probeLegacyLocalhost"),
    http2: variables.bool("http2Probing"),
  };
}

function readMetrics(reading: Reading, role: Role, statusPort: number) {
  const { variables } = reading;
  return {
    /** Endpoints of the application; empty for roles other than sidecar. */
    scrapeTargets: role === "sidecar" && variables.isSet("prometheusAnnotations")
      ? scrapeTargets(reading, statusPort)
      : [],
    localhostOnly: variables.bool("metricsLocalhostOnly"),
    mergeEnvoyStats: variables.bool("mergeEnvoyStats"),
  };
}

/** Reads the scrape targets. Reports an empty value: it is a template mistake, and Istio's sidecar fails too. */
function scrapeTargets({ variables, problems }: Reading, statusPort: number): readonly ScrapeTarget[] {
  const text = variables.text("prometheusAnnotations");
  if (text === "") {
    problems.push('"ISTIO_PROMETHEUS_ANNOTATIONS" is empty: set JSON, or unset it');
    return [];
  }
  const read = readScrapeTargets(text, statusPort);
  problems.push(...read.problems.map((problem) => `"ISTIO_PROMETHEUS_ANNOTATIONS": ${problem}`));
  return read.targets;
}

/** Checks that the GCP project is set if Stackdriver is used. (Istio reads the project from the platform.) */
function checkTracing({ data }: ProxyConfig, node: ProxyNode, problems: string[]): void {
  const project = valueAt(node.typedMetadata, "PLATFORM_METADATA", "gcp_project");
  if (valueAt(data, "tracing", "stackdriver") !== undefined && project === undefined) {
    problems.push('Tracing to Stackdriver needs a project: the node metadata "PLATFORM_METADATA" has no "gcp_project"');
  }
}
