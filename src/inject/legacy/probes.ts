/**
 * Redirects HTTP probes of the application to the agent, by the rules of Istio 1.0 to 1.8. The agents of 1.0 to 1.5 listen on
 * the port in the proxy's `--statusPort`.
 */
import { PROBERS_ENV } from "../pod/pod.ts";
import { goJson } from "../../golang/go_json.ts";
import { intAt, textAt, type ValueMap } from "../../base/value.ts";
import { mapContainers, withEnv } from "../pod/change.ts";
import type { Pod } from "../pod/pod.ts";
import { earlierProbers, podStatusPort, probeAbilities, probersIn, rewriteContainer } from "../postprocess/probes.ts";
import { flagValue } from "./arguments.ts";
import { has } from "./features.ts";

export interface LegacyProbeSettings {
  readonly minor: number;
  readonly meshStatusPort: number;
  /** ISTIO_KUBE_APP_PROBERS from an earlier injection. */
  readonly earlier: string | undefined;
}

/** The agent's port for a pod; `undefined` if the port is unknown, so that probes are not rewritten. */
export function agentPort(
  pod: Pod,
  proxy: ValueMap,
  { minor, meshStatusPort }: LegacyProbeSettings,
): number | undefined {
  if (has(minor, "agentProbers")) return podStatusPort(pod, meshStatusPort);
  const text = flagValue(proxy, "statusPort") ?? "";
  return /^\d+$/.test(text) ? Number(text) : undefined;
}

/** Sets ISTIO_KUBE_APP_PROBERS on the proxy. Returns the same proxy if the application has no HTTP probes. */
export function withProbers(proxy: ValueMap, pod: Pod, port: number, settings: LegacyProbeSettings): ValueMap {
  const asksAgent = (action: ValueMap, url: string) => textAt(action, "path") === url && intAt(action, "port") === port;
  const all = { ...probersIn(pod, abilitiesOf(settings.minor), asksAgent), ...earlierProbers(settings.earlier) };
  return Object.keys(all).length === 0 ? proxy : withEnv(proxy, PROBERS_ENV, goJson(all));
}

/** Redirects the HTTP probes of the application containers to the agent. */
export function redirected(pod: Pod, port: number, minor: number): Pod {
  return mapContainers(pod, "containers", (container) => rewriteContainer(container, port, abilitiesOf(minor)));
}

function abilitiesOf(minor: number) {
  return probeAbilities(minor, () => undefined);
}
