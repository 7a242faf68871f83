/** A pod in ambient mode for tests, with the dump of its node's ztunnel. */
import assert from "node:assert/strict";
import type { Part, Snapshot } from "../snapshot/snapshot.ts";
import { snapshotOf } from "../snapshot/manifest.ts";
import { isAmbient } from "../pod.ts";

/** Changes of the pod and of the dump. */
export interface AmbientChanges {
  readonly name?: string;
  readonly address?: string;
  readonly account?: string;
  /** The ports on which a process listens. */
  readonly listens?: readonly number[];
  readonly dump?: object | undefined;
  /** The state of the pod's certificate. */
  readonly state?: string;
  readonly policies?: readonly object[];
  /** The waypoint of the Service `catalog`. */
  readonly waypoint?: string;
  /** The load balancing settings of the Service `catalog`. */
  readonly loadBalancer?: object;
  /** Fields of the workload that is the Service's endpoint. */
  readonly workload?: object;
}

function workload(name: string, address: string, more: object = {}): object {
  return {
    uid: `Kubernetes//Pod/shop/${name}`,
    name,
    namespace: "shop",
    workloadIps: [address],
    protocol: "HBONE",
    serviceAccount: name.replace(/-\d+$/, ""),
    trustDomain: "cluster.local",
    status: "Healthy",
    ...more,
  };
}

function service(name: string, address: string, ports: object, more: object = {}): object {
  return {
    name,
    namespace: "shop",
    hostname: `${name}.shop.svc.cluster.local`,
    vips: [`/${address}`],
    ports,
    endpoints: { x: { workloadUid: `Kubernetes//Pod/shop/${name}-1`, port: ports } },
    ...more,
  };
}

/** The dump of the node: a client `cart-1`, a server `catalog-1`, and a waypoint. */
export function fakeZtunnel({ waypoint, workload: more, loadBalancer, ...others }: AmbientChanges): object {
  const { policies = [], state = "Available" } = others;
  const destination = { loadBalancer, ...waypoint === undefined ? {} : { waypoint: { destination: waypoint } } };
  return {
    workloads: [
      workload("cart-1", "10.0.0.8"),
      workload("catalog-1", "10.0.0.9", { authorizationPolicies: ["shop/strict"], ...more }),
      workload("waypoint-1", "10.0.0.50"),
    ],
    services: [
      service("catalog", "10.96.0.9", { "80": 8080 }, destination),
      service("waypoint", "10.96.0.50", { "15008": 15008 }),
    ],
    policies,
    certificates: ["cart", "catalog"].map((name) => ({
      identity: `spiffe://cluster.local/ns/shop/sa/${name}`,
      state,
      certChain: [],
    })),
  };
}

/** The snapshot of a pod. */
export function fakeAmbient(changes: AmbientChanges = {}): Snapshot {
  const { name = "cart-1", address = "10.0.0.8", listens = [8080] } = changes;
  const dump = "dump" in changes ? changes.dump : fakeZtunnel(changes);
  const pod = {
    metadata: { name, namespace: "shop", annotations: { "ambient.istio.io/redirection": "enabled" } },
    spec: { nodeName: "node-1", containers: [{ name: "app", securityContext: { runAsUser: 1000 } }] },
    status: { podIP: address, podIPs: [{ ip: address }], conditions: [{ type: "Ready", status: "True" }] },
  };
  const manifest = { schemaVersion: 1, pod: { namespace: "shop", name }, time: "2026-11-22T00:00:00Z" };
  const texts = {
    "manifest.json": JSON.stringify(manifest),
    "pod.json": JSON.stringify(pod),
    "sockets.txt": listens.map((port) => `LISTEN 0 9 0.0.0.0:${port} *:*\n`).join(""),
    ...dump === undefined ? {} : { "ztunnel.json": JSON.stringify(dump) },
  };
  const parts = new Map(Object.entries(texts).map(([part, text]): [string, Part] => [part, { text }]));
  return snapshotOf(parts, "a test");
}

Deno.test("a pod is in ambient mode by its annotation", () => {
  assert(isAmbient({ annotations: { "ambient.istio.io/redirection": "enabled" } }));
  assert(!isAmbient({ annotations: { "ambient.istio.io/redirection": "disabled" } }));
});
