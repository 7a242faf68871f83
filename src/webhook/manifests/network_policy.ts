/** Builds the NetworkPolicy for the webhook's pods (Kubernetes, "Network Policies"). */
import { normalBlock } from "../../golang/net/mod.ts";
import type { ValueMap } from "../../base/value.ts";
import { objectOf, type Plan, selectorLabels } from "./options.ts";

/**
 * Returns a NetworkPolicy if addresses of API servers are given. Allows reviews from these addresses, metrics from pods of the
 * given namespaces, and probes from the given nodes. Kubernetes always allows the kubelet of a pod's own node. Egress stays
 * unrestricted.
 */
export function networkPolicy(plan: Plan): ValueMap[] {
  if (plan.networkPolicy.length === 0) return [];
  const { reviews, plain } = plan.ports;
  const ingress = [
    rule(reviews, plan.networkPolicy.map(addresses)),
    rule(plain, [...plan.metricsNamespaces.map(podsOf), ...plan.probesFrom.map(addresses)]),
  ];
  const spec = {
    podSelector: { matchLabels: selectorLabels(plan) },
    policyTypes: ["Ingress"],
    ingress: ingress.flat(),
  };
  return [objectOf(plan, "networking.k8s.io/v1", "NetworkPolicy", { spec })];
}

/** Returns an ingress rule, or none if there are no peers: an empty `from` would allow all sources. */
function rule(port: number, from: ValueMap[]): ValueMap[] {
  return from.length === 0 ? [] : [{ from, ports: [{ protocol: "TCP", port }] }];
}

function addresses(text: string): ValueMap {
  return { ipBlock: { cidr: normalBlock(text) } };
}

function podsOf(namespace: string): ValueMap {
  return { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } } };
}
