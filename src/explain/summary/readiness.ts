/** Whether the pod is ready, and why not. */
import { mapAt, mapsAt, textAt, type ValueMap } from "../../base/value.ts";
import type { Configuration, Readiness, SummaryContainer } from "./pod_summary_schema.ts";
import type { ProxyReadiness } from "./proxy_readiness.ts";

/** Readiness, with the first reason that holds; root causes come first. */
export function readinessOf(
  pod: ValueMap | undefined,
  containers: readonly SummaryContainer[],
  { state, agent }: Pick<Configuration, "state"> & { readonly agent: ProxyReadiness },
): Readiness {
  if (pod === undefined) return ofEnvoy(state, agent);
  const conditions = mapsAt(mapAt(pod, "status"), "conditions");
  const ready = conditions.find((each) => textAt(each, "type") === "Ready");
  if (ready === undefined) {
    return { ready: null, result: "unknown", message: "the API server has no condition Ready of it" };
  }
  if (textAt(ready, "status") === "True") return ofReady(agent);
  const proxy = containers.find(({ role }) => role === "proxy");
  const broken = containers.find(({ result }) => result === "error");
  const reasons = [
    textAt(mapAt(pod, "metadata"), "deletionTimestamp") === "" ? undefined : "the pod is being deleted",
    broken === undefined ? undefined : `${broken.name} ${broken.message}`,
    proxyText(proxy, agent),
    /INITIALIZING$/.test(state) ? `Envoy waits for its configuration (${state})` : undefined,
    unready(containers, proxy),
    ...conditions.filter((each) => textAt(each, "status") !== "True" && each !== ready).map(conditionText),
    conditionText(ready),
  ];
  return { ready: false, result: "error", message: reasons.find((reason) => reason !== undefined) ?? "not ready" };
}

/** The proxy's reason, if the proxy is not ready. */
function proxyText(proxy: SummaryContainer | undefined, { isReady, reason }: ProxyReadiness): string | undefined {
  return reason !== "" && (isUnready(proxy) || isReady === false) ? reason : undefined;
}

/** A ready pod whose proxy is not ready gets a warning: the kubelet may not have probed since. */
function ofReady({ isReady, reason }: ProxyReadiness): Readiness {
  if (isReady !== false) return { ready: true, result: "ok", message: "ready" };
  return { ready: true, result: "warning", message: `ready for Kubernetes, but not for the proxy: ${reason}` };
}

function isUnready(container: SummaryContainer | undefined): boolean {
  return container?.ready === false;
}

function ofEnvoy(state: string, { isReady, reason }: ProxyReadiness): Readiness {
  if (isReady === false) return { ready: null, result: "warning", message: reason };
  if (state === "LIVE") return { ready: null, result: "ok", message: "Envoy is live; the pod itself is not known" };
  const message = state === "" ? "neither the pod nor Envoy is known" : `Envoy is in the state ${state}`;
  return { ready: null, result: state === "" ? "unknown" : "warning", message };
}

function unready(containers: readonly SummaryContainer[], proxy: SummaryContainer | undefined): string | undefined {
  const names = containers.filter(isUnready).map(({ name }) => name);
  if (names.length === 0) return undefined;
  const who = proxy !== undefined && names.includes(proxy.name)
    ? ""
    : ": not the proxy, but the application's own probe";
  return `${names.join(", ")} ${names.length === 1 ? "is" : "are"} not ready${who}`;
}

function conditionText(condition: ValueMap): string | undefined {
  const message = textAt(condition, "message") || textAt(condition, "reason");
  return message === "" ? undefined : `${textAt(condition, "type")}: ${message}`;
}
