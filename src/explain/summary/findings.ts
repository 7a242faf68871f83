/** Problems of a pod and what to do: rules over the other parts of the summary. */
import { withoutProxy } from "../pod.ts";
import type { Finding, PodSummary, Result } from "./pod_summary_schema.ts";

type Parts = Omit<PodSummary, "findings">;
type Found = Omit<Finding, "id">;

interface Rule {
  readonly id: string;
  readonly find: (parts: Parts) => readonly Found[];
}

/** The namespace and the name of `shop/web`. */
function splitName(pod: string): [namespace: string, name: string] {
  const [namespace = "", name = ""] = pod.split("/");
  return [namespace, name];
}

function logsOf(pod: string, container: string, isEnded: boolean): string {
  const [namespace, name] = splitName(pod);
  const where = name === "" ? pod : `-n ${namespace} ${name}`;
  return `see why in its log: kubectl logs ${where} -c ${container}${isEnded ? " --previous" : ""}`;
}

/** In the order of a pod's start. */
const RULES: readonly Rule[] = [
  {
    id: "container",
    find: ({ pod, containers }) =>
      containers.filter(({ result }) => bad(result)).map(({ name, result, message, restarts }) =>
        found(result, `container ${name} ${message}`, logsOf(pod, name, restarts > 0))
      ),
  },
  {
    id: "no-proxy",
    find: ({ pod, ambient, containers }) => {
      if (ambient !== null || containers.length === 0 || containers.some(({ role }) => role === "proxy")) return [];
      const { message, fix } = withoutProxy(...splitName(pod));
      return [found("error", message, fix)];
    },
  },
  {
    id: "changed-after-injection",
    find: ({ differences }) =>
      differences.map(({ field, wrote, runs }) =>
        found(
          "error",
          `${field}: injection wrote "${wrote}", but ${runs}`,
          "see which webhook or controller changes the pod",
        )
      ),
  },
  {
    id: "not-captured",
    find: ({ traffic: { source, mode, message } }) =>
      source === "unknown" || mode !== ""
        ? []
        : [found("error", message, "see the log of the init container istio-init, or of the CNI agent of the node")],
  },
  {
    id: "port",
    find: ({ traffic: { ports } }) =>
      ports.filter(({ result }) => result === "error").map(({ port, container, listens, message }) =>
        found(
          listens === "loopback" ? "error" : "warning",
          `port ${port} of ${container}: ${message}`,
          listens === "loopback"
            ? `let the application listen on 0.0.0.0:${port}`
            : `start the application's server, or take the port out of the container's ports`,
        )
      ),
  },
  {
    id: "certificate",
    find: ({ certificate: { result, message } }) =>
      bad(result)
        ? [found(result, `certificate: ${message}`, "see the log of istio-proxy for what the CA answers")]
        : [],
  },
  {
    id: "configuration",
    find: ({ configuration: { result, message, rejected } }) =>
      bad(result) ? [found(result, `configuration: ${message}`, rejected.length > 0 ? REFUSED : CONNECTION)] : [],
  },
  {
    id: "not-ready",
    find: ({ readiness: { ready, result, message } }) =>
      ready === false
        ? [found("error", `not ready: ${message}`, "")]
        : ready === true && bad(result)
        ? [found(result, message, "see the log of istio-proxy")]
        : [],
  },
];

const REFUSED = "correct the resource that makes this configuration, such as an EnvoyFilter";
const CONNECTION = "see whether istiod runs and is reached, and the log of istio-proxy";

/** All findings, errors first. */
export function findingsOf(parts: Parts): Finding[] {
  const all = RULES.flatMap(({ id, find }) => find(parts).map((each): Finding => ({ id, ...each })));
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
