/** Decides whether the pod and its proxy are ready, or why not. */
import { mapAt, mapsAt, textAt, type ValueMap } from "../../base/value.ts";
import { configProblem, serverProblem, workersProblem } from "../../istio/envoy_stats.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import type { Configuration, Readiness, SummaryContainer } from "./pod_summary_schema.ts";
import { statsOf } from "./stats.ts";

/** Returns the readiness with the first reason that applies. Root causes are first. */
export function readinessOf(
  pod: ValueMap | undefined,
  containers: readonly SummaryContainer[],
  { state, agent }: Pick<Configuration, "state"> & { readonly agent: ProxyReadiness },
): Readiness {
  if (pod === undefined) return ofEnvoy(state, agent);
  const conditions = mapsAt(mapAt(pod, "status"), "conditions");
  const ready = conditions.find((each) => textAt(each, "type") === "Ready");
  if (ready === undefined) {
    return { ready: null, result: "unknown", message: "the pod's status does not have the condition Ready" };
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

/** Returns why the proxy is not ready; `undefined` if it is ready, or if no reason is known. */
function proxyText(proxy: SummaryContainer | undefined, { isReady, reason }: ProxyReadiness): string | undefined {
  return reason !== "" && (isUnready(proxy) || isReady === false) ? reason : undefined;
}

/** Returns a warning for a ready pod whose proxy is not ready: the kubelet may not have probed the proxy again yet. */
function ofReady({ isReady, reason }: ProxyReadiness): Readiness {
  if (isReady !== false) return { ready: true, result: "ok", message: "ready" };
  return { ready: true, result: "warning", message: `the pod is ready, but its proxy is not ready: ${reason}` };
}

function isUnready(container: SummaryContainer | undefined): boolean {
  return container?.ready === false;
}

function ofEnvoy(state: string, { isReady, reason }: ProxyReadiness): Readiness {
  if (isReady === false) return { ready: null, result: "warning", message: reason };
  if (state === "LIVE") return { ready: null, result: "ok", message: "Envoy is live; the state of the pod is unknown" };
  const message = state === "" ? "the state of the pod and of Envoy is unknown" : `Envoy is in the state ${state}`;
  return { ready: null, result: state === "" ? "unknown" : "warning", message };
}

function unready(containers: readonly SummaryContainer[], proxy: SummaryContainer | undefined): string | undefined {
  const names = containers.filter(isUnready).map(({ name }) => name);
  if (names.length === 0) return undefined;
  const who = proxy !== undefined && names.includes(proxy.name)
    ? ""
    : ": the application's own probe fails, not the proxy's";
  return `${names.join(", ")} ${names.length === 1 ? "is" : "are"} not ready${who}`;
}

function conditionText(condition: ValueMap): string | undefined {
  const message = textAt(condition, "message") || textAt(condition, "reason");
  return message === "" ? undefined : `${textAt(condition, "type")}: ${message}`;
}

interface ProxyReadiness {
  /** The result of the agent's readiness endpoint; `undefined` if unknown. */
  readonly isReady: boolean | undefined;
  /** Why the proxy is not ready; empty if unknown. */
  readonly reason: string;
}

const STATUS = /^(\d{3})\b/;
/** Status of an unready agent. Any other status comes from another server, or from a release without this path. */
const UNREADY = "503";
/** Matches a failed stage in the response to `?verbose`, which has one or several lines. */
const STAGE = /\[-\]\w+ failed: /;
const NEXT_STAGE = /\n|\s\[[+-]\]|\snot ready/;

function stageProblem(text: string): string | undefined {
  const found = STAGE.exec(text);
  if (found === null) return undefined;
  return text.slice(found.index + found[0].length).split(NEXT_STAGE, 1)[0]?.trimEnd();
}

/** Returns the proxy's readiness at the time of the snapshot. */
export function proxyReadiness({ parts }: Pick<Snapshot, "parts">): ProxyReadiness {
  const { text } = parts["agent_ready.txt"];
  const status = STATUS.exec(text ?? "")?.[1];
  if (text !== undefined && status === undefined) return { isReady: true, reason: "" };
  const isReady = status === UNREADY ? false : undefined;
  const said = stageProblem(text ?? "") ?? countersProblem(parts["stats.txt"].text);
  const answered = status === UNREADY ? `the agent returns ${status} on port 15020` : "";
  return { isReady, reason: [answered, said ?? ""].filter((each) => each !== "").join(": ") };
}

/** Returns a problem in the counters, in Istio's wording, which users search for. */
function countersProblem(text: string | undefined): string | undefined {
  const stats = statsOf(text);
  return stats.size === 0 ? undefined : configProblem(stats) ?? serverProblem(stats) ?? workersProblem(stats);
}
