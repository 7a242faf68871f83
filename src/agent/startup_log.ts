/** Builds the log lines at startup, in pilot-agent's format: the node and the effective proxy configuration. */
import { type ProxyConfig, proxyConfigJson } from "../istio/configuration.ts";
import { isMap, type Value } from "../base/value.ts";
import { toYaml } from "../yaml/mod.ts";
import { VERSION } from "../version.ts";
import type { AgentSettings } from "./settings/read.ts";

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
