/** How the lifecycle starts Envoy and speaks to it, from the settings. */
import { type Logger, logText } from "../core/log.ts";
import type { World } from "../core/world/world.ts";
import { envoyArgs } from "./bootstrap/envoy_args.ts";
import { removeBootstrap, writeBootstrap } from "./bootstrap/write.ts";
import { envoyLines } from "./envoy/log_lines.ts";
import type { EnvoyOptions } from "./lifecycle/options.ts";
import type { ProgramName } from "./settings/command_line.ts";
import { readSettings } from "./settings/read.ts";
import type { AgentSettings } from "./settings/settings.ts";
import { DEFAULT_GRACE, DEFAULT_RESTART, longestDrain, type Rules } from "./lifecycle/rules.ts";

/** What the settings were read from: a hot restart reads them again. */
export interface Source {
  readonly words: readonly string[];
  readonly name: ProgramName;
  readonly log: Logger;
  /** What must be there before an Envoy is. */
  readonly before: () => Promise<void>;
}

/**
 * The first Envoy gets the settings that were read at the start; each further one those of its own time, so that a changed
 * mesh configuration counts. Settings that have become wrong leave the Envoy that runs as it is: the error is the log's.
 */
export function envoyOptions(
  world: World,
  settings: AgentSettings,
  { words, name, log, before }: Source,
): EnvoyOptions {
  const { envoy, ports, role, ipMode } = settings;
  const epochs = new Set<number>();
  const warn = (text: string) => log.warning(logText(text));
  return {
    binary: envoy.binaryPath,
    async prepare(epoch) {
      await before();
      const current = epoch === 0 ? settings : await readSettings(world, words, { name, before: settings });
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
  const { terminationMilliseconds: duration, minimumMilliseconds: minimum, maximumMilliseconds: maximum } = drain;
  const chosenDuration = drain.isTerminationChosen ? duration : undefined;
  return {
    hotRestart: envoy.hotRestart,
    restart: { ...DEFAULT_RESTART, policy: restart },
    drain: {
      duration,
      exitOnZero: drain.exitOnZeroActiveConnections,
      minimum,
      maximum: longestDrain({ maximum, chosenDuration, minimum }),
    },
    grace: DEFAULT_GRACE,
  };
}

/** Certificates that are mounted as files, where Istio 1.0 to 1.5 looked for them and today's agent does first. */
const CERTIFICATES = ["cert-chain.pem", "key.pem", "root-cert.pem"].map((name) => `./etc/certs/${name}`);

/** The files whose change asks for a new Envoy: its configuration and its certificates. */
export function watchedFiles({ envoy, meshFile }: AgentSettings): string[] {
  return [...CERTIFICATES, meshFile, envoy.customConfigFile, envoy.templateFile].filter((path) => path !== "");
}
