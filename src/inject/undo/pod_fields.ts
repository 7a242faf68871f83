/** Removes the pod's security context and DNS settings that injection added. */
import { isMap, mapAt, mapsAt, textsAt, type ValueMap } from "../../base/value.ts";
import { withKey, withSpecKey } from "../pod/change.ts";
import { type Pod, specOf } from "../pod/pod.ts";
import { type Doubt, type Evidence, STAYS, TAKEN_OUT } from "./evidence.ts";

/** The proxy's group. Istio 1.4 to 1.8 sets it as `fsGroup`. */
const PROXY_GROUP = 1337;

const LOW_PORTS = "net.ipv4.ip_unprivileged_port_start";

/** Removes the proxy's `fsGroup`, and the sysctl that a gateway's template sets. */
export function securityContext(pod: Pod, { proxy, revision }: Evidence, doubts: Doubt[]): Pod {
  const before = specOf(pod)["securityContext"];
  if (!isMap(before)) return pod;
  const isGateway = proxy !== undefined && textsAt(proxy, "args")[1] === "router";
  let after = before;
  if (revision === undefined && String(before["fsGroup"]) === String(PROXY_GROUP)) {
    after = withKey(after, "fsGroup", undefined);
    doubts.push({ field: "spec.securityContext.fsGroup", message: TAKEN_OUT });
  }
  if (isGateway) after = withoutLowPorts(after);
  const isEmpty = Object.keys(after).length === 0;
  if (isGateway && !isEmpty) doubts.push({ field: "spec.securityContext", message: STAYS });
  return after === before ? pod : withSpecKey(pod, "securityContext", isEmpty ? undefined : after);
}

function withoutLowPorts(context: ValueMap): ValueMap {
  const sysctls = mapsAt(context, "sysctls");
  const left = sysctls.filter(({ name, value }) => name !== LOW_PORTS || value !== "0");
  return left.length === sysctls.length
    ? context
    : withKey(context, "sysctls", left.length === 0 ? undefined : [...left]);
}

/**
 * Removes the search domains of a multicluster mesh: `NAMESPACE.global` and `global`. Other search domains may come from the
 * values or from the user, so they stay and add a doubt.
 */
export function dns(pod: Pod, { owner, proxy }: Evidence, doubts: Doubt[]): Pod {
  const config = mapAt(specOf(pod), "dnsConfig");
  const searches = textsAt(config, "searches");
  if (searches.length === 0 || proxy === undefined) return pod;
  const standard = [`${owner.namespace || "default"}.global`, "global"];
  if (searches.every((domain) => standard.includes(domain))) {
    const left = withKey(config, "searches", undefined);
    return withSpecKey(pod, "dnsConfig", Object.keys(left).length === 0 ? undefined : left);
  }
  doubts.push({ field: "spec.dnsConfig.searches", message: STAYS });
  return pod;
}
