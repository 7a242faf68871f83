/** Finds a pod's problems, each with a fix, from the other parts of the summary. */
import { withoutProxy } from "../pod.ts";
import type { Finding, PodSummary, Result } from "./pod_summary_schema.ts";

type Parts = Omit<PodSummary, "findings">;
type Found = Omit<Finding, "id">;

function splitName(pod: string): [namespace: string, name: string] {
  const [namespace = "", name = ""] = pod.split("/");
  return [namespace, name];
}

function logsOf(pod: string, container: string, isEnded: boolean): string {
  const [namespace, name] = splitName(pod);
  const where = name === "" ? pod : `-n ${namespace} ${name}`;
  return `check its log: kubectl logs ${where} -c ${container}${isEnded ? " --previous" : ""}`;
}

/** Rules by the ID of their findings, in the order of a pod's startup. */
const RULES: Readonly<Record<string, (parts: Parts) => readonly Found[]>> = {
  "container": ({ pod, containers }) =>
    containers.filter(({ result }) => bad(result)).map(({ name, result, message, restarts }) =>
      found(result, `container ${name} ${message}`, logsOf(pod, name, restarts > 0))
    ),
  "no-proxy": ({ pod, ambient, containers }) => {
    if (ambient !== null || containers.length === 0 || containers.some(({ role }) => role === "proxy")) return [];
    const { message, fix } = withoutProxy(...splitName(pod));
    return [found("error", message, fix)];
  },
  "changed-after-injection": ({ differences }) =>
    differences.map(({ field, wrote, runs }) =>
      found(
        "error",
        `${field}: injected "${wrote}", but ${runs}`,
        "find the webhook or controller that changes the pod",
      )
    ),
  "not-captured": ({ traffic: { source, mode, message } }) =>
    source === "unknown" || mode !== ""
      ? []
      : [found("error", message, "check the log of the init container istio-init, or of the node's CNI agent")],
  "port": ({ traffic: { ports } }) =>
    ports.filter(({ result }) => result === "error").map(({ port, container, listens, message }) =>
      found(
        listens === "loopback" ? "error" : "warning",
        `port ${port} of ${container}: ${message}`,
        listens === "loopback"
          ? `make the application listen on 0.0.0.0:${port}`
          : `start the application's server, or remove the port from the container's ports`,
      )
    ),
  "certificate": ({ certificate: { result, message } }) =>
    bad(result) ? [found(result, `certificate: ${message}`, "check the log of istio-proxy for errors of the CA")] : [],
  "configuration": ({ configuration: { result, message, rejected } }) =>
    bad(result) ? [found(result, `configuration: ${message}`, rejected.length > 0 ? REFUSED : CONNECTION)] : [],
  "not-ready": ({ readiness: { ready, result, message } }) =>
    ready === false
      ? [found("error", `not ready: ${message}`, "")]
      : ready === true && bad(result)
      ? [found(result, message, "check the log of istio-proxy")]
      : [],
};

const REFUSED = "correct the resource that generates this configuration, such as an EnvoyFilter";
const CONNECTION = "check whether istiod is running and reachable, and check the log of istio-proxy";

export function findingsOf(parts: Parts): Finding[] {
  const all = Object.entries(RULES).flatMap(([id, find]) => find(parts).map((each): Finding => ({ id, ...each })));
  return all.toSorted((a, b) => weight(b.result) - weight(a.result));
}

function weight(result: Result): number {
  return result === "error" ? 2 : result === "warning" ? 1 : 0;
}

function bad(result: Result): boolean {
  return result === "error" || result === "warning";
}

function found(result: Result, message: string, fix: string): Found {
  return { result, message, fix };
}
