/** Derives the options of the lifecycle from the settings. */
import { type Logger, logText } from "../platform/log.ts";
import type { World } from "../platform/world.ts";
import { envoyArgs } from "./bootstrap/envoy_args.ts";
import { removeBootstrap, writeBootstrap } from "./bootstrap/write.ts";
import { envoyLines } from "./envoy/log_lines.ts";
import type { EnvoyOptions } from "./envoy/options.ts";
import type { ProgramName } from "./settings/command_line.ts";
import { readSettings } from "./settings/read.ts";
import type { AgentSettings } from "./settings/read.ts";
import { DEFAULT_GRACE, DEFAULT_RESTART, type Rules } from "./lifecycle/rules.ts";

export interface Source {
  readonly args: readonly string[];
  readonly name: ProgramName;
  readonly log: Logger;
  readonly before: () => Promise<void>;
}

/**
 * Returns the options for Envoy. The first Envoy uses the settings from startup. Each later Envoy reads the settings
 * again, so that a changed mesh configuration takes effect; invalid settings are logged and do not affect the running
 * Envoy.
 */
export function envoyOptions(
  world: World,
  settings: AgentSettings,
  { args, name, log, before }: Source,
): EnvoyOptions {
  const { envoy, ports, role, ipMode } = settings;
  const epochs = new Set<number>();
  const warn = (text: string) => log.warning(logText(text));
  return {
    binary: envoy.binaryPath,
    async prepare(epoch) {
      await before();
      const current = epoch === 0 ? settings : await readSettings(world, args, { name, before: settings });
      epochs.add(epoch);
      return envoyArgs(current, await writeBootstrap(world, current, warn), epoch);
    },
    async discard(epoch) {
      epochs.delete(epoch);
      if (epochs.size === 0) await removeBootstrap(world, settings);
    },
    env: envoy.environment,
    adminUrl: `http://${ipMode === "ipv6" ? "[::1]" : "127.0.0.1"}:${ports.admin}`,
    inboundOnly: role === "sidecar",
    ownPorts: [ports.envoyStatus, ports.prometheus, ports.secureMetrics, ports.secureMergedMetrics],
    errorLine: settings.log.format === "json" ? envoyLines(world, log.getChild("envoy")) : undefined,
  };
}

export function lifecycleRules({ envoy, drain, restart }: AgentSettings): Rules {
  return {
    hotRestart: envoy.hotRestart,
    restart: { ...DEFAULT_RESTART, policy: restart },
    drain,
    grace: DEFAULT_GRACE,
  };
}

/**
 * Paths of certificates mounted as files. Istio 1.0 to 1.5 used these paths, and current pilot-agents try these paths
 * first.
 */
const CERTIFICATES = ["cert-chain.pem", "key.pem", "root-cert.pem"].map((name) => `./etc/certs/${name}`);

/** Returns the files whose change starts a new Envoy: configuration and certificates. */
export function watchedFiles({ envoy, meshFile }: AgentSettings): string[] {
  return [...CERTIFICATES, meshFile, envoy.customConfigFile, envoy.templateFile].filter((path) => path !== "");
}
