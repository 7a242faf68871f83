/** The rules of the lifecycle, and what it watches, from the settings. */
import { DEFAULT_GRACE, DEFAULT_RESTART, longestDrain, type Rules } from "./lifecycle/mod.ts";
import type { AgentSettings } from "./settings/settings.ts";

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
