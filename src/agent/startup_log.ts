/**
 * Builds the log lines at startup: the node and the proxy configuration in pilot-agent's format, and a warning about a
 * low limit of open files.
 */
import { type ProxyConfig, proxyConfigJson } from "../istio/configuration.ts";
import { isMap, type Value } from "../base/value.ts";
import { toYaml } from "../yaml/mod.ts";
import { VERSION } from "../version.ts";
import type { AgentSettings } from "./settings/read.ts";
import { maxOpenFiles } from "../platform/open_files.ts";
import type { World } from "../platform/world.ts";

/** Returns the log lines. Tokens in the configuration are hidden. */
export function startLines(settings: AgentSettings): string[] {
  const { role, addresses, node, envoy } = settings;
  return [
    `Version ${VERSION}`,
    `Proxy role ips=[${addresses.join(" ")}] type=${role} id=${node.id} cluster=${node.cluster}`,
    `Effective config: ${configText(settings.proxyConfig)}`,
    ...envoy.templateFile === "" ? [] : [`The bootstrap is rendered from the template ${envoy.templateFile}`],
  ];
}

const SECRETS = new Set(["accessToken"]);

function configText(config: ProxyConfig): string {
  const value: Value = JSON.parse(
    proxyConfigJson(config),
    (key, item) => SECRETS.has(key) && item !== "" ? "(hidden)" : item,
  );
  return isMap(value) ? `\n${toYaml(value).trimEnd()}` : "";
}

/** The usual limit on open files on Linux. */
const USUAL = 1024;

/** Returns a warning about the limit on open files; `undefined` if the limit is high enough or unknown. */
export async function openFilesWarning(world: Pick<World, "files">): Promise<string | undefined> {
  const limit = await maxOpenFiles(world);
  if (limit === undefined || limit >= USUAL) return undefined;
  return `The limit of open files is ${limit}, for this process and for Envoy separately: every connection needs a file ` +
    "descriptor, and without a free one Envoy does not respond; raise the limit (ulimit -n)";
}
