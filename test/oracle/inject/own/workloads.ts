/** Cases about kinds of workloads, and about what users write in their pods. */
import { APP, deployment, type OwnCase, pod, text, workload } from "./case.ts";

const SERVICE = { apiVersion: "v1", kind: "Service", metadata: { name: "shop" }, spec: { ports: [{ port: 80 }] } };

/** Two cases for a kind: with and without native sidecars. */
function kind(name: string, like: readonly string[], likeOld: readonly string[]): OwnCase[] {
  const manifest = name === "Pod" ? text(pod()) : text(workload(name));
  return [
    { name: `a ${name}`, like, manifest },
    { name: `a ${name}, proxies are ordinary containers`, like: likeOld, manifest, native: false },
  ];
}

const http = (port: string | number, more = {}) => ({ httpGet: { path: "/healthy", port, ...more } });

export const WORKLOADS: readonly OwnCase[] = [
  ...kind("Deployment", ["istio/095-hello.yaml"], ["istio/006-hello-old-version.yaml"]),
  ...kind("Job", [], ["istio/027-job-old-version.yaml"]),
  ...kind("Pod", ["istio/107-pod.yaml"], ["istio/028-pod-old-version.yaml"]),
  ...kind("StatefulSet", [], ["istio/030-statefulset-old-version.yaml"]),
  ...kind("DaemonSet", ["istio/074-daemonset.yaml"], []),
  ...kind("ReplicaSet", ["istio/112-replicaset.yaml"], []),
  ...kind("ReplicationController", ["istio/113-replicationcontroller.yaml"], []),
  ...kind("DeploymentConfig", ["istio/077-deploymentconfig.yaml"], []),
  { name: "a Service alone", like: ["istio/023-hello-service.yaml"], manifest: text(SERVICE) },
  {
    name: "a Service and a Deployment",
    like: ["istio/079-frontend.yaml"],
    manifest: text(SERVICE, workload("Deployment")),
  },
  {
    name: "a List of a Service and a Deployment",
    like: ["istio/100-list-frontend.yaml"],
    manifest: text({ apiVersion: "v1", kind: "List", items: [SERVICE, workload("Deployment")] }),
  },
  {
    name: "a List of a Service and a DeploymentConfig",
    like: ["istio/075-deploymentconfig-multi.yaml"],
    manifest: text({ apiVersion: "v1", kind: "List", items: [SERVICE, workload("DeploymentConfig")] }),
  },
  {
    name: "two Deployments with versions",
    like: ["istio/087-hello-multi.yaml"],
    manifest: text(
      workload("Deployment", { labels: { app: "shop", version: "v1" } }, { name: "shop-v1" }),
      workload("Deployment", { labels: { app: "shop", version: "v2" } }, { name: "shop-v2" }),
    ),
  },
  {
    name: "a namespace",
    like: ["istio/089-hello-namespace.yaml"],
    manifest: text(workload("Deployment", {}, { namespace: "trade" })),
  },
  {
    name: "the host's network",
    like: ["istio/054-hello-host-network-with-ns.yaml"],
    manifest: text(workload("Deployment", { spec: { hostNetwork: true } }, { namespace: "trade" })),
  },
  {
    name: "a name longer than a label",
    like: ["istio/057-truncate-canonical-name-pod.yaml"],
    manifest: text(pod({ labels: {} }, { name: `${"a-long-name-".repeat(6)}end` })),
  },
  {
    name: "pull secrets of the pod",
    like: ["istio/085-hello-image-pull-secret.yaml"],
    manifest: deployment({ spec: { imagePullSecrets: [{ name: "registry" }] } }),
  },
  {
    name: "a security context of the pod",
    like: ["istio/038-explicit-security-context.yaml"],
    manifest: deployment({ spec: { securityContext: { fsGroup: 3000, runAsUser: 2000 } } }),
  },
  {
    name: "a label of the TLS mode",
    like: ["istio/086-hello-mtls-not-ready.yaml"],
    manifest: deployment({ labels: { app: "shop", "security.istio.io/tlsMode": "disabled" } }),
  },
  {
    name: "several containers with ports",
    like: ["istio/102-multi-container.yaml", "istio/125-two_container.yaml"],
    manifest: deployment({
      containers: [
        { ...APP, readinessProbe: http("web") },
        {
          name: "cart",
          image: "example.com/cart",
          ports: [{ containerPort: 9000, protocol: "UDP" }, { containerPort: 9001 }],
          livenessProbe: http(9001),
        },
      ],
    }),
  },
  {
    name: "init containers of the user",
    like: ["istio/103-multi-init.yaml"],
    manifest: deployment({
      spec: { initContainers: [{ name: "first", image: "i:1" }, { name: "second", image: "i:2" }] },
    }),
  },
  {
    name: "a native sidecar of the user, with a probe",
    like: ["istio/046-native-sidecar.yaml"],
    manifest: deployment({
      spec: {
        initContainers: [
          { name: "cache", image: "cache:1", restartPolicy: "Always", startupProbe: http(7000) },
          { name: "schema", image: "schema:1" },
        ],
      },
    }),
  },
  {
    name: "a probe with a number",
    like: ["istio/094-hello-readiness.yaml"],
    manifest: deployment({ containers: [{ ...APP, readinessProbe: http(8000) }] }),
  },
  {
    name: "a probe with a port's name",
    like: ["istio/105-named_port.yaml"],
    manifest: deployment({ containers: [{ ...APP, readinessProbe: http("web") }] }),
  },
  {
    name: "readiness and liveness",
    like: ["istio/110-ready_live.yaml"],
    manifest: deployment({ containers: [{ ...APP, readinessProbe: http(8000), livenessProbe: http("web") }] }),
  },
  {
    name: "a startup probe alone",
    like: ["istio/117-startup_only.yaml"],
    manifest: deployment({ containers: [{ ...APP, startupProbe: http(8000, { path: "" }) }] }),
  },
  {
    name: "a probe by HTTPS",
    like: ["istio/096-https-probes.yaml"],
    manifest: deployment({ containers: [{ ...APP, livenessProbe: http("web", { scheme: "HTTPS", host: "h" }) }] }),
  },
  {
    name: "probes by TCP",
    like: ["istio/053-tcp-probes.yaml"],
    manifest: deployment({
      containers: [{
        ...APP,
        readinessProbe: { tcpSocket: { port: "web" } },
        livenessProbe: { tcpSocket: { port: 1 } },
      }],
    }),
  },
  {
    name: "probes of every kind, and handlers of the lifecycle",
    like: ["istio/092-hello-probes.yaml", "extra/probes-all-kinds-native"],
    manifest: deployment({
      containers: [
        {
          ...APP,
          readinessProbe: { ...http("nowhere"), periodSeconds: 3 },
          livenessProbe: { tcpSocket: { port: 9000, host: "other" }, timeoutSeconds: 4 },
          startupProbe: { grpc: { port: 7, service: "health" }, timeoutSeconds: 2 },
          lifecycle: {
            preStop: http("web", { scheme: "HTTPS", httpHeaders: [{ name: "A", value: "b" }] }),
            postStart: { tcpSocket: { port: "web" } },
          },
        },
        { name: "other", image: "o:1", livenessProbe: { exec: { command: ["true"] } }, readinessProbe: http(15020) },
      ],
    }),
  },
  {
    name: "an annotation that keeps probes as they are",
    like: ["istio/091-hello-probes-with-flag-unset-in-annotation.yaml"],
    manifest: deployment({
      annotations: { "sidecar.istio.io/rewriteAppHTTPProbers": "false" },
      containers: [{ ...APP, readinessProbe: http("web") }],
    }),
  },
  {
    name: "values that keep probes as they are",
    like: ["extra/probes-rewrite-off-values"],
    manifest: deployment({ containers: [{ ...APP, readinessProbe: http("web") }] }),
    values: { sidecarInjectorWebhook: { rewriteAppHTTPProbe: false } },
    native: false,
  },
];
