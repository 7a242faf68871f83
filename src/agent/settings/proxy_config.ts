/** Determines the effective proxy configuration. Source: pilot-agent's config.ConstructProxyConfig. */
import { errorText, MeshError } from "../../base/errors.ts";
import {
  ANNOTATION,
  checkProxyConfig,
  defaultProxyConfig,
  defaultsOf,
  mergeProxyConfig,
  parseMeshConfig,
  parseProxyConfig,
  type ProxyConfig,
} from "../../istio/configuration.ts";
import { joinHostPort, parseAddress, parsePort, splitHostPort } from "../../golang/net/mod.ts";
import { newMap, type Value } from "../../base/value.ts";
import type { Network } from "../../platform/world.ts";
import type { FlagName } from "./flags.ts";
import { oldFlags, proxyConfigOfFlags } from "./old_flags.ts";
import type { Reading } from "./reading.ts";
import type { Variables } from "./variables.ts";

export interface ProxyConfigSources extends Omit<Reading, "usage"> {
  readonly annotations: ReadonlyMap<string, string>;
}

/**
 * Merges the layers, lowest first: defaults, mesh file, `PROXY_CONFIG` (or else the flags of Istio 1.0 to 1.5), the
 * annotation `proxy.istio.io/config`. Concurrency, service cluster and two annotations are set after the merge.
 */
export async function effectiveProxyConfig(sources: ProxyConfigSources) {
  const { problems, variables } = sources;
  const mesh = withOldDrain(await meshProxyConfig(sources), variables);
  const overlays = [
    readOverlay(problems, () => configOfPod(sources)),
    readOverlay(problems, () => configOfAnnotation(sources)),
  ].filter((each) => each !== undefined);
  let config = overlays.reduce(mergeProxyConfig, mesh);
  config = withServiceCluster(withConcurrency(config, sources), sources.given);
  config = await withResolvedStatsd(config, sources);
  for (const { field, text } of checkProxyConfig(config.data)) {
    problems.push(`The proxy configuration is invalid: "${field}" ${text}`);
  }
  const isDrainChosen = variables.isSet("oldTerminationDrain") || !hasDefaultDrain(mesh) ||
    overlays.some(({ data }) => data[DRAIN] !== undefined);
  return {
    config: withTemplate(withAnnotations(config, sources), sources.given),
    /** Whether terminationDrainDuration was set explicitly. The default value in a mesh file does not count. */
    isDrainChosen,
  };
}

/** Returns the path of the mesh configuration. */
export function meshFileOf({ given }: Pick<ProxyConfigSources, "given">): string {
  return given.get("meshConfig") ?? "./etc/istio/config/mesh";
}

async function meshProxyConfig({ world, given, problems }: ProxyConfigSources): Promise<ProxyConfig> {
  const file = meshFileOf({ given });
  try {
    if (await world.files.stat(file) === undefined) return defaultProxyConfig(defaultsOf("current"));
    return defaultProxyConfig(parseMeshConfig(await world.files.readText(file), file));
  } catch (error) {
    problems.push(errorText(error));
    return defaultProxyConfig(defaultsOf("current"));
  }
}

/** Reads a layer. An invalid layer is reported as a problem and ignored. */
function readOverlay(problems: string[], read: () => ProxyConfig): ProxyConfig | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    problems.push(errorText(error));
    return undefined;
  }
}

function configOfAnnotation({ annotations }: ProxyConfigSources): ProxyConfig {
  return parseProxyConfig(annotations.get(ANNOTATION.proxyConfig) ?? "", `annotation ${ANNOTATION.proxyConfig}`);
}

function configOfPod({ given, variables, warnings }: ProxyConfigSources): ProxyConfig {
  const text = variables.text("proxyConfig");
  const old = oldFlags(given);
  if (text.trim() === "") return proxyConfigOfFlags(oldFlagsThatCount(given, warnings));
  if (old.length > 0) warnings.push(`Ignored because PROXY_CONFIG is set: ${old.join(", ")}; set the fields there`);
  return parseProxyConfig(text, "PROXY_CONFIG");
}

/**
 * Returns the old flags that apply. In old releases, a status port of 0 disabled the status server; today, readiness
 * needs the server.
 */
function oldFlagsThatCount(given: ReadonlyMap<FlagName, string>, warnings: string[]): Map<FlagName, string> {
  const counting = new Map(given);
  if (Number(given.get("statusPort") ?? 1) === 0) {
    counting.delete("statusPort");
    warnings.push('"--statusPort" 0 is ignored: the status server always runs');
  }
  return counting;
}

function set(config: ProxyConfig, key: string, value: Value): ProxyConfig {
  return { era: config.era, data: Object.assign(newMap(), config.data, { [key]: value }) };
}

const DRAIN = "terminationDrainDuration";

function hasDefaultDrain({ data }: ProxyConfig): boolean {
  return data[DRAIN] === "5s";
}

/** Applies the drain time from the variable of Istio 1.1 to 1.8, unless the mesh file sets a drain time. */
function withOldDrain(config: ProxyConfig, variables: Variables): ProxyConfig {
  if (!hasDefaultDrain(config) || !variables.isSet("oldTerminationDrain")) return config;
  return set(config, DRAIN, `${variables.number("oldTerminationDrain")}s`);
}

function withConcurrency(config: ProxyConfig, { given, variables }: ProxyConfigSources): ProxyConfig {
  const asked = Number(given.get("concurrency") ?? 0);
  const limit = variables.number("cpuLimit");
  if (asked !== 0) return set(config, "concurrency", asked);
  return config.data["concurrency"] === undefined && limit !== 0 ? set(config, "concurrency", limit) : config;
}

function withServiceCluster(config: ProxyConfig, given: ReadonlyMap<FlagName, string>): ProxyConfig {
  const isEmpty = config.data["serviceCluster"] === "";
  return isEmpty ? set(config, "serviceCluster", given.get("serviceCluster") ?? "istio-proxy") : config;
}

/**
 * Resolves the address for Envoy's statsd sink, which accepts IP addresses only. If this fails, the sink is off, as in
 * Istio.
 */
async function withResolvedStatsd(config: ProxyConfig, { world, warnings }: ProxyConfigSources): Promise<ProxyConfig> {
  const address = config.data["statsdUdpAddress"];
  if (typeof address !== "string" || address === "") return config;
  const resolved = await addressOf(address, world.network);
  if (typeof resolved === "object") return set(config, "statsdUdpAddress", resolved.ip);
  warnings.push(`Cannot send metrics to statsd: ${resolved}`);
  return set(config, "statsdUdpAddress", "");
}

/** Resolves the host of an address; prefers IPv4. */
async function addressOf(address: string, network: Network): Promise<{ readonly ip: string } | string> {
  const parts = splitHostPort(address);
  if (typeof parts === "string") return parts;
  const port = parsePort(parts.port);
  if (typeof port === "string") return `the port of "${address}": ${port}`;
  if (typeof parseAddress(parts.host) !== "string") return { ip: address };
  const found = await network.lookup(parts.host);
  const ip = found.find((each) => !each.includes(":")) ?? found[0];
  return ip === undefined ? `the host of "${address}" has no address` : { ip: joinHostPort(ip, port) };
}

/** Adds the template path, including a path from `--templateFile`, so that the control plane sees it. */
function withTemplate(config: ProxyConfig, given: ReadonlyMap<FlagName, string>): ProxyConfig {
  const file = given.get("templateFile") ?? "";
  const isUsed = file !== "" && (config.data["customConfigFile"] ?? "") === "";
  return isUsed ? set(config, "proxyBootstrapTemplatePath", file) : config;
}

/** Applies two annotations, after the validation of the configuration. */
function withAnnotations(config: ProxyConfig, { annotations, problems, warnings }: ProxyConfigSources): ProxyConfig {
  const address = annotations.get(ANNOTATION.discoveryAddress);
  const portText = annotations.get(ANNOTATION.statusPort);
  let result = config;
  if (address !== undefined) {
    const parts = splitHostPort(address);
    if (typeof parts === "string") {
      problems.push(`The annotation "${ANNOTATION.discoveryAddress}" is invalid: ${parts}`);
    }
    result = set(result, "discoveryAddress", address);
  }
  if (portText !== undefined) {
    const port = parsePort(portText);
    if (typeof port === "number") return set(result, "statusPort", port);
    warnings.push(`The annotation "${ANNOTATION.statusPort}" is ignored: ${port}`);
  }
  return result;
}
