/** Breaks a healthy mesh and heals it again. */
import assert from "node:assert/strict";
import { laterWebhook } from "../../support/webhook.ts";
import { isList, isMap, mapAt, textAt, type ValueMap } from "../../../../src/base/value.ts";
import { type TestCertificate, testCertificate } from "../../../support/tls/certificates.ts";
import { meshObjects } from "../../../support/kube/mesh_webhooks.ts";
import { got, merged, removed, reported } from "../../support/cluster/requests.ts";
import { makeAuthority } from "./certificates.ts";
import type { Writer } from "./editor.ts";
import {
  CONTROL_PLANE,
  endpointsOf,
  FLAGS,
  type MeshCluster,
  objectNamed,
  podOf,
  type PodParts,
  removePod,
  runPod,
  serviceTo,
  WEBHOOK,
} from "./mesh_cluster.ts";

export const ADMISSION = "admissionregistration.k8s.io/v1";

/** A problem of the mesh. */
export interface Breakage extends Expected {
  readonly make: (mesh: MeshCluster) => Promise<unknown>;
  readonly heal: (mesh: MeshCluster) => Promise<unknown>;
}

/** The expected report of `check`, and the reaction to it. */
export interface Expected {
  /** All checks that report an error or a warning, the main check first. */
  readonly expect: Readonly<Record<string, "error" | "warning">>;
  /** Matches the message of the main check. */
  readonly says: RegExp;
  /** What a user writes in the editor that the advice opens. */
  readonly writer?: Writer;
  /** Matches the advice that the user chooses; by default, the first advice with a command is followed. */
  readonly picks?: RegExp;
  /** The workload that leaves the mesh because of that choice: `mesh/deployment.apps/odd`. */
  readonly leaves?: string;
  /** What a user does outside of the cluster, based only on the message and the advice. */
  readonly outside?: (report: string) => void;
  /** How controllers, kubelets and restarted pods react after the advice is followed. */
  readonly reacts?: (mesh: MeshCluster) => Promise<unknown>;
}

/** Changes the entries in the webhook's configuration. */
export function registered(change: (webhook: ValueMap) => ValueMap, expected: Expected): Breakage {
  return { make: (mesh) => mesh.register(change), heal: (mesh) => mesh.register(), ...expected };
}

/** Changes the text under a key in the control plane's ConfigMap. */
export function configured(key: string, change: (text: string) => string, expected: Expected): Breakage {
  let before = "";
  const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: WEBHOOK, namespace: CONTROL_PLANE } };
  const set = ({ cluster }: Pick<MeshCluster, "cluster">, text: string) =>
    merged(cluster, map, { data: { [key]: text } });
  return {
    async make({ cluster }) {
      const { data } = await got(cluster, `/api/v1/namespaces/${CONTROL_PLANE}/configmaps/${WEBHOOK}`);
      before = textAt(mapAt({ data: data ?? null }, "data"), key) ?? "";
      await set({ cluster }, change(before));
    },
    heal: (mesh) => set(mesh, before),
    ...expected,
  };
}

/** Sets labels of a namespace; `null` removes a label. */
export function labelNamespace(
  { cluster }: Pick<MeshCluster, "cluster">,
  namespace: string,
  labels: ValueMap,
): Promise<void> {
  return merged(cluster, objectNamed("Namespace", namespace), { metadata: { labels } });
}

/** Breaks the mesh with labels of a namespace; `null` removes a label. */
export function labelled(
  namespace: string,
  labels: Readonly<Record<string, string | null>>,
  expected: Expected,
): Breakage {
  let before: ValueMap = {};
  return {
    async make({ cluster }) {
      const own = mapAt(mapAt(await got(cluster, `/api/v1/namespaces/${namespace}`), "metadata"), "labels");
      before = Object.fromEntries(Object.keys(labels).map((key) => [key, own[key] ?? null]));
      await labelNamespace({ cluster }, namespace, labels);
    },
    heal: (mesh) => labelNamespace(mesh, namespace, before),
    ...expected,
  };
}

/** An unusual pod, with its status. */
interface OddPod extends PodParts {
  /** Status of the proxy, of the other containers, and of the pod. */
  readonly proxy?: ValueMap;
  readonly others?: ValueMap;
  readonly status?: ValueMap;
}

/** Adds a pod to the namespace `mesh`. */
export function withPod(
  { proxy, others, status, ...parts }: OddPod,
  expected: Expected,
  then: (mesh: MeshCluster) => Promise<unknown> = () => Promise.resolve(),
): Breakage {
  return {
    async make(mesh) {
      await runPod(mesh, podOf("odd", parts), { proxy, others });
      if (status !== undefined) await reported(mesh.cluster, podOf("odd"), status);
      await then(mesh);
    },
    heal: (mesh) => removePod(mesh, "odd"),
    ...expected,
  };
}

/** Adds an object. */
export function withObject(object: ValueMap, expected: Expected): Breakage {
  return {
    make: (mesh) => mesh.apply(object),
    heal: ({ cluster }) => removed(cluster, object),
    ...expected,
  };
}

/** Makes the webhook serve a different certificate. */
export function serving(
  make: (mesh: MeshCluster) => TestCertificate,
  { says, reacts }: Pick<Expected, "says" | "reacts">,
): Breakage {
  const serve = async (mesh: MeshCluster, certificate: TestCertificate) => {
    const before = mesh.webhook.log().length;
    await mesh.webhook.certify(certificate);
    await mesh.webhook.logged("Serving the new certificate on new connections", before);
    await connectAnew(mesh);
  };
  return {
    make: (mesh) => serve(mesh, make(mesh)),
    heal: (mesh) => serve(mesh, mesh.certificate),
    expect: { "webhook-reachable": "error" },
    says,
    ...reacts && { reacts },
  };
}

/**
 * Makes the API server open a new connection to the webhook. It normally reuses connections, but not after a change of
 * the caBundle.
 */
export function connectAnew(mesh: MeshCluster): Promise<void> {
  return mesh.register(withBundle(mesh.authority.pem + makeAuthority().pem));
}

interface Listener {
  readonly port: number;
  close(): void;
}

/** Makes the API server call the port that `listen` opens. */
export function calling(listen: (mesh: MeshCluster) => Listener, expected: Expected, failurePolicy = "Fail"): Breakage {
  let listener: Listener | undefined;
  return {
    async make(mesh) {
      listener = listen(mesh);
      const { port } = listener;
      await mesh.apply(serviceTo(port));
      await mesh.apply(endpointsOf(["ready"], port));
      await mesh.register((webhook) => {
        return { ...webhook, failurePolicy, timeoutSeconds: 1, clientConfig: at(webhook, { port }) };
      });
    },
    async heal(mesh) {
      listener?.close();
      await mesh.register();
      await mesh.apply(serviceTo(mesh.webhook.port));
      await mesh.apply(endpointsOf(["ready"], mesh.webhook.port));
    },
    ...expected,
  };
}

/** Returns the client configuration of an entry, with changes to its Service. */
export function at({ clientConfig }: ValueMap, place: ValueMap): ValueMap {
  const client = isMap(clientConfig) ? clientConfig : {};
  return { ...client, service: { ...(isMap(client["service"]) ? client["service"] : {}), ...place } };
}

export function withBundle(bundle: string): (webhook: ValueMap) => ValueMap {
  return (webhook) => {
    const { clientConfig } = webhook;
    return { ...webhook, clientConfig: { ...(isMap(clientConfig) ? clientConfig : {}), caBundle: btoa(bundle) } };
  };
}

/** Removes the expressions that exclude the webhook's own namespace from the selector of an entry. */
export function withoutNamespaces({ namespaceSelector, ...rest }: ValueMap): ValueMap {
  const { matchExpressions } = isMap(namespaceSelector) ? namespaceSelector : {};
  const others = (isList(matchExpressions) ? matchExpressions : []).filter((each) => {
    return isMap(each) && each["key"] !== "kubernetes.io/metadata.name";
  });
  return { ...rest, namespaceSelector: { matchExpressions: others } };
}

/**
 * Simulates a firewall between the API server and the webhook: no port responds until a rule allows the port that the
 * API server calls.
 */
export class Firewall {
  #allowed: ReadonlySet<number> = new Set();

  /** Opens the port in front of the webhook. */
  readonly listen = ({ webhook }: MeshCluster): Listener => {
    const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const { port } = listener.addr;
    const open = new Set<Deno.TcpConn>();
    const accept = async () => {
      for await (const client of listener) {
        open.add(client);
        if (this.#allowed.has(port)) await this.#forward(client, webhook.port, open);
      }
    };
    void accept();
    const close = () => {
      listener.close();
      for (const each of open) quietly(() => each.close());
    };
    return { port, close };
  };

  async #forward(client: Deno.TcpConn, port: number, open: Set<Deno.TcpConn>): Promise<void> {
    const server = await Deno.connect({ hostname: "127.0.0.1", port });
    open.add(server);
    void client.readable.pipeTo(server.writable).catch(() => {});
    void server.readable.pipeTo(client.writable).catch(() => {});
  }

  /** Adds the rule from the advice. */
  readonly allow = (report: string): void => {
    const [, port] = /allow TCP to port (\d+) of nodes and pods/.exec(report) ?? [];
    assert.ok(port !== undefined, report);
    this.#allowed = new Set([...this.#allowed, Number(port)]);
  };
}

/** Ignores the error if a connection is already closed. */
function quietly(close: () => void): void {
  try {
    close();
  } catch (error) {
    if (!(error instanceof Deno.errors.BadResource)) throw error;
  }
}

/** A namespace selector that matches no namespace. */
export const NOBODY = { matchLabels: { nobody: "yes" } };

export function configMap(): ValueMap {
  const found = meshObjects({ flags: FLAGS }).find(({ kind }) => kind === "ConfigMap");
  return { ...found };
}

/** Adds a webhook that runs after the injector, and patches pods whose first init container is a native sidecar. */
export function dropping(operation: ValueMap, expected: Expected): Breakage {
  let server: Deno.HttpServer<Deno.NetAddr> | undefined;
  return {
    async make(mesh) {
      const { certificate, key, authority } = testCertificate();
      server = Deno.serve(
        { hostname: "127.0.0.1", port: 0, cert: certificate, key, onListen: () => {} },
        async (request) => {
          const { apiVersion, kind, request: { uid, object } } = await request.json();
          const patch = object.spec.initContainers?.[0]?.restartPolicy === "Always" ? [operation] : [];
          const response = { uid, allowed: true, patchType: "JSONPatch", patch: btoa(JSON.stringify(patch)) };
          return Response.json({ apiVersion, kind, response });
        },
      );
      await mesh.apply(laterWebhook("old.example.com", server.addr.port, authority));
    },
    async heal({ cluster }) {
      await removed(cluster, objectNamed("MutatingWebhookConfiguration", "later"));
      await server?.shutdown();
    },
    ...expected,
  };
}

/** A policy that rejects pods with init containers in the namespace `mesh`. */
export const POLICY = [
  {
    apiVersion: ADMISSION,
    kind: "ValidatingAdmissionPolicy",
    metadata: { name: "no-init" },
    spec: {
      failurePolicy: "Fail",
      matchConstraints: {
        resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] }],
      },
      validations: [{ expression: "!has(object.spec.initContainers)", message: "no init containers" }],
    },
  },
  {
    apiVersion: ADMISSION,
    kind: "ValidatingAdmissionPolicyBinding",
    metadata: { name: "no-init" },
    spec: {
      policyName: "no-init",
      validationActions: ["Deny"],
      matchResources: { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "mesh" } } },
    },
  },
];
