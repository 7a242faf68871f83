/** Reads the settings of the Envoy process. */
import { type ProxyConfig, type ProxySettings, proxySettings } from "../../../istio/configuration.ts";
import { flagText, isOn, milliseconds, type Reading } from "../reading.ts";
import { messageOf } from "../../../base/errors.ts";
import { goJson } from "../../../golang/go_json.ts";
import { parseYaml } from "../../../yaml/mod.ts";
import type { World } from "../../../platform/world.ts";

const HOUR = 3_600_000;

/**
 * Reads the rules of drains. With `exitOnZero`, the maximum drain time is the explicit limit, or else an explicit
 * terminationDrainDuration, or else an hour. The maximum is at least the minimum. Istio has no maximum (its issue
 * 44690).
 */
export function readDrain(reading: Reading, { data }: ProxyConfig, isDurationChosen: boolean) {
  const { variables } = reading;
  const duration = milliseconds(data["terminationDrainDuration"], 5000);
  const minimum = variables.milliseconds("minimumDrain");
  return {
    duration,
    exitOnZero: variables.bool("exitOnZero"),
    minimum,
    maximum: Math.max(minimum, longestDrain(reading) ?? (isDurationChosen ? duration : HOUR)),
    /** Envoy's `--drain-time-s`. */
    drainSeconds: Math.floor(milliseconds(data["drainDuration"], 45_000) / 1000),
    /** Value of Envoy's `--parent-shutdown-time-s` in a hot restart. */
    parentShutdownSeconds: Math.floor(milliseconds(data["parentShutdownDuration"], 60_000) / 1000),
  };
}

/** Returns the explicit limit. The flag wins over the variable; 0 means no limit. */
function longestDrain(reading: Reading): number | undefined {
  const text = flagText(reading, "maximumDrain");
  const limit = text === "" ? reading.variables.milliseconds("maximumDrain") : milliseconds(text, 0);
  return limit > 0 ? limit : undefined;
}

/** TLS 1.2 ciphers of Envoy's gRPC client under FIPS 140. */
const FIPS_CIPHERS = [
  "ECDHE-ECDSA-AES128-GCM-SHA256",
  "ECDHE-RSA-AES128-GCM-SHA256",
  "ECDHE-ECDSA-AES256-GCM-SHA384",
  "ECDHE-RSA-AES256-GCM-SHA384",
].join(":");

export async function readEnvoy(reading: Reading, config: ProxyConfig) {
  const { world, variables, warnings } = reading;
  const proxy = proxySettings(config);
  const logLevels = reading.given.get("proxyLogLevel") ?? "warning";
  const override = variables.text("bootstrapOverride");
  return {
    isDisabled: variables.bool("disableEnvoy"),
    binaryPath: proxy.binaryPath,
    configPath: proxy.configPath,
    /** A custom bootstrap that is used unchanged; `""` if unset. */
    customConfigFile: proxy.customConfigFile,
    ...await template(reading, proxy),
    ...envoyLogLevels(logLevels, flagText(reading, "proxyComponentLogLevel"), warnings),
    /** Number of worker threads; 0 means one per processor. */
    concurrency: Math.max(proxy.concurrency ?? 0, 0),
    fileFlushMilliseconds: milliseconds(config.data["fileFlushInterval"], 1000),
    /** 0 means not set. */
    fileFlushMinKilobytes: Number(config.data["fileFlushMinSizeKb"] ?? 0),
    skipDeprecatedLogs: variables.bool("skipDeprecatedLogs"),
    coreDump: variables.bool("coreDump"),
    bootstrapOverride: await readBootstrapOverride(world, override, variables.text("hostIp"), warnings),
    hotRestart: isOn(reading, "hotRestart") || isOn(reading, "watch"),
    baseId: Number(flagText(reading, "baseId")),
    environment: compliancePolicy(reading).limitsCiphers ? { GRPC_SSL_CIPHER_SUITES: FIPS_CIPHERS } : {},
  };
}

const IMAGE_TEMPLATE = "./var/lib/istio/envoy/envoy_bootstrap_tmpl.json";

/**
 * Returns the named template, or else the image's own template, which fits the image's Envoy. `--xds direct` works with
 * the built-in bootstrap only.
 */
async function template(reading: Reading, { proxyBootstrapTemplatePath }: ProxySettings) {
  const { world, variables } = reading;
  const named = [variables.text("bootstrapTemplate"), proxyBootstrapTemplatePath].find((file) => file !== "");
  if (named !== undefined) return { templateFile: named, isImagesTemplate: false };
  // A file that this user cannot access counts as absent.
  const isThere = async () => await world.files.stat(IMAGE_TEMPLATE).catch(() => undefined) !== undefined;
  const isImage = flagText(reading, "xds") !== "direct" && await isThere();
  return { templateFile: isImage ? IMAGE_TEMPLATE : "", isImagesTemplate: isImage };
}

const NO_POLICY = { limitsCiphers: false, isTls12Only: false };

/**
 * TLS limits for Envoy's gRPC client, by policy. istiod applies the policy to Envoy's other connections. Source: Istio's
 * envoy.Run and bootstrap.extractRuntimeFlags.
 */
const POLICIES = new Map([
  ["", NO_POLICY],
  ["fips-140-2", { limitsCiphers: true, isTls12Only: true }],
  ["fips-140-3", { limitsCiphers: true, isTls12Only: false }],
]);

/** Returns the policy. Warns once about an unknown policy. */
export function compliancePolicy({ variables, warnings }: Reading) {
  const name = variables.text("compliancePolicy");
  const policy = POLICIES.get(name);
  const warning = `"COMPLIANCE_POLICY" is "${name}", which is unknown: use fips-140-2 or fips-140-3`;
  if (policy === undefined && !warnings.includes(warning)) warnings.push(warning);
  return policy ?? NO_POLICY;
}

/**
 * Returns the file (YAML or JSON) as compact JSON with sorted keys; `""` if no file is named. `$(HOST_IP)` becomes the
 * node's address, with brackets for IPv6. An unreadable file causes a warning, and Envoy starts without it.
 */
async function readBootstrapOverride(
  world: World,
  file: string,
  hostIp: string,
  warnings: string[],
): Promise<string> {
  if (file === "") return "";
  try {
    return goJson(parseYaml(withHostIp(await world.files.readText(file), hostIp)));
  } catch (error) {
    warnings.push(`ISTIO_BOOTSTRAP_OVERRIDE is ignored: ${messageOf(error)}`);
    return "";
  }
}

function withHostIp(text: string, hostIp: string): string {
  if (!hostIp.includes(":")) return text.replaceAll("$(HOST_IP)", () => hostIp);
  const bracketed = `[${hostIp}]`;
  return text.replaceAll("[$(HOST_IP)]", () => bracketed).replaceAll("$(HOST_IP)", () => bracketed);
}

/**
 * Returns the values of Envoy's `-l` and `--component-log-level`; `""` if unset. The last item without a colon sets the
 * level, and every `component:level` sets a component's level. The deprecated flag applies only if no item sets a
 * component's level. Other items are ignored with a warning. Source: Istio's envoy.splitComponentLog.
 */
export function envoyLogLevels(text: string, deprecated: string, warnings: string[]) {
  const parts = text.split(",").map((item) => ({ item, colons: item.split(":").length - 1 }));
  const components = parts.filter(({ colons }) => colons === 1).map(({ item }) => item);
  for (const { item } of parts.filter(({ colons }) => colons > 1)) {
    warnings.push(`"${item}" in "--proxyLogLevel" is ignored: it is neither a level nor component:level`);
  }
  return {
    logLevel: parts.findLast(({ colons }) => colons === 0)?.item ?? "",
    componentLogLevel: components.length > 0 ? components.join(",") : deprecated,
  };
}
