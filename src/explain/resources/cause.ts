/** The resource that decided a connection, if Envoy's configuration names it. */
import type { Decided } from "../answer_schema.ts";

/** The workload of a proxy: resources select workloads by namespace and labels. */
export interface Workload {
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  /** The root namespace of the mesh. Its resources apply to all workloads. */
  readonly root: string;
}

/** A resource that decided, and how to find the resource among others of its kind. */
export type Cause = Decided & {
  readonly search: Search;
  /** The next candidate, if the cluster's objects show that this resource did not decide. */
  readonly otherwise?: Cause | undefined;
  /** Whether the answer's own fix is better than a change of this resource. */
  readonly keepsFix?: boolean;
};

/** A part of a DestinationRule's traffic policy. */
type PolicyPart = "tls" | "connectionPool" | "outlierDetection";

/** How to find the deciding resource and field among the resources of a kind. */
export type Search =
  /** By namespace and name only. If the name is empty, nothing is searched. */
  | { readonly by: "name" }
  /** By the mTLS mode of a port. */
  | { readonly by: "mtls"; readonly workload: Workload; readonly port: number }
  /** By the part of a DestinationRule's traffic policy that applies to a port and a subset. */
  | { readonly by: "policy"; readonly part: PolicyPart; readonly port: number; readonly subset: string }
  /** By the labels of a subset. */
  | { readonly by: "labels"; readonly subset: string }
  /** By a destination that does not exist. `instead` is a similar existing name; empty if unknown. */
  | { readonly by: "destination"; readonly host: string; readonly subset: string; readonly instead: string }
  /** By a route's fault or own response (`answer`), or by its hosts if no route matches the request (`missing`). */
  | { readonly by: "route"; readonly what: "fault" | "answer" | "missing"; readonly host: string }
  /** By the rules of a policy. `principal` is the client to allow; empty if unknown. */
  | { readonly by: "rules"; readonly action: "allow" | "deny"; readonly rule: number; readonly principal: string }
  /** By the rule for tokens of this issuer; empty for any issuer. */
  | { readonly by: "token"; readonly workload: Workload; readonly issuer: string }
  /** By a host outside of the cluster. `port` is the port that the host lacks; 0 if it lacks endpoints. */
  | { readonly by: "host"; readonly host: string; readonly port: number }
  /** By a Service that is not visible to a workload. `hosts` are the possible full names of the Service. */
  | { readonly by: "egress"; readonly workload: Workload; readonly hosts: readonly string[] }
  /** By the endpoint of a Sidecar's ingress port. */
  | { readonly by: "ingress"; readonly port: number }
  /** By a text in the resource, such as the name of a filter or an expression. */
  | { readonly by: "text"; readonly workload: Workload; readonly text: string }
  /** By the hosts of a gateway's port. */
  | { readonly by: "server"; readonly workload: Workload; readonly port: number; readonly host: string };

/**
 * Returns the cause in the resource `origin`, such as `VirtualService shop/reviews`. If `origin` is empty, the cause is
 * in an unnamed resource of `kind`.
 */
export function causeIn(origin: string, kind: string, field: string, search: Search): Cause {
  const [, own, namespace, name] = /^(\w+) ([^/\s]+)\/(\S+)$/.exec(origin) ?? [];
  return { kind: own ?? kind, namespace: namespace ?? "", name: name ?? "", field, search };
}

/** Returns the cause for a part of Envoy's configuration that Istio does not generate. An EnvoyFilter or Telemetry does. */
export function writerCause(text: string, workload: Workload): Cause {
  return causeOf("EnvoyFilter", "spec.configPatches", { by: "text", workload, text });
}

/** Returns the cause in the traffic policy for a cluster such as `outbound|80|v1|web.shop.svc.cluster.local`. */
export function policyCause(cluster: string, origin: string, part: PolicyPart): Cause {
  const [, port, subset = ""] = cluster.split("|");
  const search = { by: "policy", part, port: Number(port), subset } as const;
  return causeIn(origin, "DestinationRule", `spec.trafficPolicy.${part}`, search);
}

/** Returns a cause in an unnamed resource, which only the API server can identify. */
export function causeOf(kind: string, field: string, search: Search): Cause {
  return { kind, namespace: "", name: "", field, search };
}
