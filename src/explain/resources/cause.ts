/** The resource that decided about a connection, as far as Envoy's configuration names it. */
import type { Decided } from "../answer_schema.ts";

/** Whose configuration it is: resources choose workloads by namespace and labels. */
export interface Workload {
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  /** The root namespace of the mesh, whose resources are for all workloads. */
  readonly root: string;
}

/** The resource, and how it is recognized among others of its kind. */
export type Cause = Decided & {
  readonly search: Search;
  /** The next candidate, if the cluster's objects show that this resource did not decide. */
  readonly otherwise?: Cause | undefined;
};

/** What to search for in the resources of a kind to find the one that decided. */
export type Search =
  /** Only the namespace and name are searched for, or nothing. */
  | { readonly by: "name" }
  /** The mTLS mode of a port. */
  | { readonly by: "mtls"; readonly workload: Workload; readonly port: number }
  /** The part of a DestinationRule's traffic policy that holds for a port and a subset. */
  | {
    readonly by: "policy";
    readonly part: "tls" | "connectionPool" | "outlierDetection";
    readonly port: number;
    readonly subset: string;
  }
  /** The labels of a subset. */
  | { readonly by: "labels"; readonly subset: string }
  /** A destination that does not exist. `instead`: one that does; empty if none is known. */
  | {
    readonly by: "destination";
    readonly host: string;
    readonly subset: string;
    readonly instead: string;
  }
  /** What a route does by itself: a fault, an answer; `missing`: no route matches the request. */
  | { readonly by: "route"; readonly what: "fault" | "answer" | "missing"; readonly host: string }
  /** The rules of a policy. `principal`: the client that it should let in; empty if unknown. */
  | { readonly by: "rules"; readonly action: "allow" | "deny"; readonly rule: number; readonly principal: string }
  /** The rule about tokens of this issuer; empty: any. */
  | { readonly by: "token"; readonly workload: Workload; readonly issuer: string }
  /** A host outside of the cluster. `port`: a port that the host lacks; 0: its endpoints decide. */
  | { readonly by: "host"; readonly host: string; readonly port: number }
  /** A Service that a workload does not see, by its possible full names. */
  | {
    readonly by: "egress";
    readonly workload: Workload;
    readonly hosts: readonly string[];
  }
  /** Where a Sidecar's own port leads to. */
  | { readonly by: "ingress"; readonly port: number }
  /** A text that stands in the resource: the name of a filter, an expression. */
  | { readonly by: "text"; readonly workload: Workload; readonly text: string }
  /** The hosts of a gateway's port. */
  | { readonly by: "server"; readonly workload: Workload; readonly port: number; readonly host: string };

/** The cause in a resource that Envoy's configuration names: `VirtualService shop/reviews`; else in one of `kind`. */
export function causeIn(origin: string, kind: string, field: string, search: Search): Cause {
  const [, own, namespace, name] = /^(\w+) ([^/\s]+)\/(\S+)$/.exec(origin) ?? [];
  return { kind: own ?? kind, namespace: namespace ?? "", name: name ?? "", field, search };
}

/** A cause whose resource must be asked for at the API server: Envoy's configuration does not name it. */
export function causeOf(kind: string, field: string, search: Search): Cause {
  return { kind, namespace: "", name: "", field, search };
}
