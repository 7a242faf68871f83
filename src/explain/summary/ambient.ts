/** Summarizes a pod in ambient mode, from the state of the ztunnel on its node. */
import type { Pod } from "../pod.ts";
import type { PodName } from "../snapshot/snapshot.ts";
import { servicesOf, type Workload, workloadOf, type ZtunnelDump } from "../ztunnel/dump.ts";
import { applies, nameOf } from "../ztunnel/policies.ts";
import type { Ambient } from "./pod_summary_schema.ts";

/** Returns the state of a pod in ambient mode; `null` for any other pod. */
export function ambientOf(name: PodName, pod: Pod | undefined, dump: ZtunnelDump | string): Ambient | null {
  if (pod?.isAmbient !== true || pod.proxy !== undefined) return null;
  if (typeof dump === "string") {
    return { ...NOTHING, result: "unknown", message: `the state of the ztunnel of its node is unknown: ${dump}` };
  }
  const workload = workloadOf(dump, name);
  if (workload === undefined) {
    return { ...NOTHING, result: "error", message: "the ztunnel of its node does not know this pod" };
  }
  return { ...known(dump, workload), ...judged(workload) };
}

type Known = Omit<Ambient, "result" | "message">;

const NOTHING: Known = { workload: "", tunnel: null, waypoint: "", network: "", services: [], policies: [] };

function known(dump: ZtunnelDump, workload: Workload): Known {
  return {
    workload: workload.uid,
    tunnel: workload.isHbone,
    waypoint: workload.waypoint,
    network: workload.network,
    services: servicesOf(dump, workload).map(({ host, waypoint }) => waypoint === "" ? host : `${host} by ${waypoint}`),
    policies: dump.policies.filter((policy) => applies(policy, workload)).map((each) =>
      `${each.isDeny ? "DENY" : "ALLOW"} ${nameOf(each)}${each.isDryRun ? " (only logged)" : ""}`
    ),
  };
}

function judged({ isHbone, isHealthy }: Workload): Pick<Ambient, "result" | "message"> {
  const node = "the ztunnel of its node";
  if (!isHbone) {
    return { result: "warning", message: `${node} lists the pod as plain TCP: the pod gets no HBONE tunnels` };
  }
  if (!isHealthy) return { result: "warning", message: `${node} lists the pod as unhealthy: the pod gets no traffic` };
  return { result: "ok", message: `${node} accepts HBONE tunnels for the pod` };
}
