/** Single problems of workloads, their pods and their nodes, and their fixes. */
import { mapAt, textAt, type ValueMap } from "../../../../src/base/value.ts";
import { BUILT_IN, findProxy } from "../../../../src/inject/mod.ts";
import { merged, removed } from "../../support/cluster/requests.ts";
import {
  type Breakage,
  configured,
  type Expected,
  labelled,
  labelNamespace,
  POLICY,
  withObject,
  withPod,
} from "./breaking.ts";
import { both, capturedByNode, injectedByLinkerd, mounted, withCni, withWorkload } from "./controllers.ts";
import { named } from "./editor.ts";
import { refusedByQuota } from "./quota.ts";
import { onNode } from "./node.ts";
import { type MeshCluster, objectNamed, podOf, removePod, runPod, setKubelet } from "./mesh_cluster.ts";

const DEPLOYMENT = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web", namespace: "mesh", labels: { "sidecar.istio.io/inject": "false" } },
  spec: {
    selector: { matchLabels: { app: "web" } },
    template: { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "app", image: "a" }] } },
  },
};

const OUT_OF_MEMORY = { terminated: { exitCode: 137, reason: "OOMKilled" } };

/** The tag in the built-in values. */
const [TAG = ""] = /tag: \S+/.exec(BUILT_IN.values) ?? [];

/** The memory limit of the proxy. */
function memoryOf(pod: ValueMap): string {
  return textAt(mapAt(mapAt(findProxy(pod) ?? {}, "resources"), "limits"), "memory");
}

/** A Service for the workload `odd`. */
function serviceOf(name: string, port: ValueMap): ValueMap {
  const spec = { selector: { app: "odd" }, ports: [{ port: 80, targetPort: 8080, ...port }] };
  return { apiVersion: "v1", kind: "Service", metadata: { name, namespace: "mesh" }, spec };
}

/** Adds a Service that selects the pods of a healthy workload, which already has another Service. */
function ofService(service: ValueMap, expected: Expected): Breakage {
  const healthy = withWorkload({ kind: "Deployment" }, { expect: {}, says: /^/ });
  const first = withObject(serviceOf("first", { name: "http-web" }), { expect: {}, says: /^/ });
  return both(both(healthy, first), withObject(service, expected));
}

const OLD_NODE = { apiVersion: "v1", kind: "Node", metadata: { name: "node-2" } };

/** Sets OpenShift's annotation of a namespace; `null` removes it. */
function rangeOfUsers({ cluster }: MeshCluster, range: string | null): Promise<void> {
  const annotations = { "openshift.io/sa.scc.uid-range": range };
  return merged(cluster, objectNamed("Namespace", "mesh"), { metadata: { annotations } });
}

/** Problems of pods, by name. */
export const POD_BREAKAGES: Readonly<Record<string, Breakage>> = {
  "a pod of another revision": withPod({ labels: { "istio.io/rev": "canary" } }, {
    expect: { "namespace-pod-revisions": "warning" },
    says: /its label istio\.io\/rev=canary has no effect/,
  }),
  "a pod older than the label": {
    make: async (mesh) => {
      await runPod(mesh, podOf("old", { namespace: "plain" }));
      await labelNamespace(mesh, "plain", { "istio-injection": "enabled" });
    },
    heal: async (mesh) => {
      await labelNamespace(mesh, "plain", { "istio-injection": null });
      await removePod(mesh, "old", "plain");
    },
    expect: { "workload-proxy-missing": "error" },
    says: /it has no proxy, but a new pod would get one.*\nkubectl get pod\/old -n plain/s,
  },
  "a pod that opted out after it was made": withPod({}, {
    expect: { "workload-proxy-unexpected": "warning" },
    says: /\nnext: see the reason.*:\nkubectl mesh check injection pod\/odd -n mesh$/,
  }, ({ cluster }) => merged(cluster, podOf("odd"), { metadata: { labels: { "sidecar.istio.io/inject": "false" } } })),
  "a proxy of an earlier version": withPod({}, {
    expect: { "workload-proxy-current": "warning" },
    says: /its proxy image is "example\.com\/proxyv2:1\.0", but new pods get "/,
  }, ({ kubectl }) => kubectl("set", "image", "-n", "mesh", "pod/odd", "istio-proxy=example.com/proxyv2:1.0")),
  "the host's network": withPod({ spec: { hostNetwork: true } }, {
    expect: { "workload-host-network": "warning" },
    says: /it uses the host network/,
  }),
  "the sidecar of another mesh": withWorkload({ kind: "Deployment", admits: injectedByLinkerd }, {
    expect: { "workload-other-mesh": "error" },
    says: /it has the sidecar "linkerd-proxy" of Linkerd/,
    picks: /turn off injection by Linkerd/,
  }),
  "the sidecar of another mesh that stays there": withWorkload({ kind: "Deployment", admits: injectedByLinkerd }, {
    expect: { "workload-other-mesh": "error" },
    says: /it has the sidecar "linkerd-proxy" of Linkerd/,
    picks: /keep it out of this mesh/,
    leaves: "mesh/deployment.apps/odd",
  }),
  "a Deployment whose pods are refused": refusedByQuota({
    expect: { "workload-pods-created": "error", "resource-quota": "warning" },
    says:
      /^deployment\/mesh\/web: the API server refuses its pods: .*exceeded quota: small, requested: requests\.cpu=1[0-9]0m/,
    picks: /raise the quota by \S+ of requests\.cpu for two of its pods/,
  }),
  "a Windows pod": withWorkload({ kind: "Deployment", spec: { nodeSelector: { "kubernetes.io/os": "windows" } } }, {
    expect: { "workload-windows": "error" },
    says: /^deployment\/mesh\/odd: it is a Windows pod/,
    picks: /keep it out of the mesh/,
    leaves: "mesh/deployment.apps/odd",
  }),
  "an init container between the capture and the proxy": capturedByNode(withWorkload({
    kind: "Deployment",
    spec: { initContainers: [{ name: "migrate", image: "a" }] },
  }, { expect: { "workload-init-network": "warning" }, says: /its init containers "migrate" run before the proxy/ })),
  "a Job whose proxy goes on": withWorkload({
    kind: "CronJob",
    reports: () => ({ others: { ready: false, state: { terminated: { exitCode: 0 } } } }),
  }, { expect: { "workload-jobs": "error" }, says: /its containers have exited, but the proxy keeps running/ }),
  "an application as the proxy's user": withWorkload({
    kind: "Deployment",
    container: { securityContext: { runAsUser: 1337 } },
  }, {
    expect: { "workload-proxy-user": "error" },
    says: /its containers "app" run as the proxy user 1337/,
    writer: named(/another runAsUser in spec\.template\.spec\.securityContext/, "runAsUser: 1337", "runAsUser: 1000"),
  }),
  "an application at the proxy's port": withWorkload({
    kind: "Deployment",
    container: { ports: [{ containerPort: 15021 }] },
  }, {
    expect: { "workload-ports": "error" },
    says: /15021 of "app" \(the pod's readiness\)/,
    writer: named(/in spec\.template\.spec\.containers/, "containerPort: 15021", "containerPort: 8080"),
  }),
  "a label on the workload itself": withObject(DEPLOYMENT, {
    expect: { "workload-label-place": "warning" },
    says: /is on the Deployment itself.*\nfix: remove it.*\n.*\nor: .*\nkubectl patch deployment\/web -n mesh/,
  }),
  "a misspelt annotation": withObject({
    ...DEPLOYMENT,
    metadata: { name: "web", namespace: "mesh" },
    spec: {
      ...DEPLOYMENT.spec,
      template: {
        ...DEPLOYMENT.spec.template,
        metadata: { labels: { app: "web" }, annotations: { "sidecar.istio.io/proxyCpu": "100m" } },
      },
    },
  }, {
    expect: { "workload-annotations": "warning" },
    says: /unknown annotation "sidecar\.istio\.io\/proxyCpu"/,
    writer: named(/rename it to "sidecar\.istio\.io\/proxyCPU"/, "proxyCpu", "proxyCPU"),
  }),
  "a Service whose port's name nearly names a protocol": ofService(
    serviceOf("odd", { name: "httpapi", targetPort: 8081 }),
    {
      expect: { "workload-services": "warning" },
      says: /^service\/mesh\/odd: spec\.ports\[0\]\.name: the name "httpapi" of the port 80 starts with "http"/,
      writer: named(/rename the port to "http-80"/, "name: httpapi", "name: http-80"),
    },
  ),
  "Services that say different protocols of a port": ofService(serviceOf("odd", { name: "tcp-raw" }), {
    expect: { "workload-services": "error" },
    says: /^service\/mesh\/odd: .* set different protocols for one port: http \(port 80\) and tcp \(port 80\)/,
    writer: named(/set the same protocol in both Services/, "name: tcp-raw", "name: http-web"),
  }),
  "the level baseline": labelled("mesh", { "pod-security.kubernetes.io/enforce": "baseline" }, {
    expect: { "pod-security": "error" },
    says: /enforces baseline, and .* NET_ADMIN and NET_RAW/,
  }),
  "a user outside OpenShift's range": both(withCni, {
    make: (mesh) => rangeOfUsers(mesh, "1000650000/10000"),
    heal: (mesh) => rangeOfUsers(mesh, null),
    expect: { "scc-ranges": "warning" },
    says: /^namespace\/mesh: its user ID range is 1000650000\/10000, but .*"istio-proxy" runs as 1337/,
    writer: named(
      /set "global\.platform: openshift" in its key "values"/,
      /^( +)hub: /m,
      "$1platform: openshift\n$1hub: ",
    ),
  }),
  "a policy against what injection adds": {
    make: async (mesh) => {
      for (const object of POLICY) await mesh.apply(object);
    },
    heal: async ({ cluster }) => {
      for (const object of POLICY) await removed(cluster, object);
    },
    expect: { "pod-admission": "error" },
    says: /^namespace\/mesh: refuses injected pods: .*ValidatingAdmissionPolicy 'no-init'.*no init containers/,
    writer: named(
      /the validations of the policy "no-init"/,
      "!has(object.spec.initContainers)",
      '!has(object.spec.initContainers) || object.spec.initContainers.all(c, c.name.startsWith("istio-"))',
    ),
  },
  "values that make an invalid pod": mounted(
    configured("values", (text) => text.replace('imagePullPolicy: ""', "imagePullPolicy: Sometimes"), {
      expect: { "pod-admission": "error" },
      says: /^namespace\/mesh: refuses injected pods: .*imagePullPolicy: Unsupported value: "Sometimes"/,
      writer: named(
        /imagePullPolicy: .*\n.*the key "values" or "config"/,
        "imagePullPolicy: Sometimes",
        "imagePullPolicy: Always",
      ),
    }),
  ),
  "an old node": {
    make: async (mesh) => {
      await mesh.apply(OLD_NODE);
      await setKubelet(mesh, "v1.28.9", OLD_NODE);
    },
    heal: ({ kubectl }) => kubectl("delete", "node", "node-2"),
    expect: { "native-sidecars": "warning" },
    says: /^node\/node-2: runs Kubernetes v1\.28\.9.*\nfix: upgrade .*\nor: until then, move the pods/,
  },
  "no node for a pod": withWorkload({
    kind: "Deployment",
    container: { resources: { requests: { cpu: "900m" } } },
    reports: onNode({ freeCpu: 950n }),
  }, {
    expect: { "proxy-scheduled": "error" },
    says: /Unschedulable: 0\/1 nodes .*Insufficient cpu.*\nfix: lower the proxy's requests to cpu 10m/,
  }),
  "an image that cannot be pulled": both(
    mounted(configured("values", (text) => text.replace(/tag: .*/, "tag: gone"), {
      expect: { "proxy-image": "error", "workload-proxy-current": "warning" },
      says: /^/,
    })),
    withWorkload({ kind: "Deployment", reports: onNode({ images: /(?<!:gone)$/ }) }, {
      expect: { "proxy-image": "error", "workload-proxy-current": "warning" },
      says: /ImagePullBackOff: .*:gone: not found/,
      writer: named(/correct hub or tag in the injector's key "values"/, "tag: gone", TAG),
    }),
  ),
  "an image of its own that cannot be pulled": withWorkload({
    kind: "Deployment",
    metadata: { annotations: { "sidecar.istio.io/proxyImage": "example.com/proxyv2:gone" } },
    reports: onNode({ images: /(?<!:gone)$/ }),
  }, { expect: { "proxy-image": "error" }, says: /ImagePullBackOff: .*:gone: not found\nfix: use the image/ }),
  "an init container that failed": capturedByNode(withWorkload({
    kind: "Deployment",
    reports: onNode({ hasCniPlugin: false }, { hasCniPlugin: true }),
  }, {
    expect: { "proxy-init": "error" },
    says: /istio-validation ended with 126: .*\nfix: recreate its pods, when the CNI/,
  })),
  "a proxy that is not ready": withWorkload({
    kind: "Deployment",
    metadata: {
      annotations: { "proxy.istio.io/config": "discoveryAddress: istiod.gone.svc:15012\nconcurrency: 1\n" },
    },
    reports: onNode({ controlPlanes: /^istiod\.istio-system\./ }),
  }, {
    expect: { "proxy-ready": "error" },
    says: /istio-proxy runs but is not ready\nnext: see its log:\nkubectl logs -n mesh odd -c istio-proxy\nor: use/,
    picks: /use the mesh's control plane, not "istiod\.gone\.svc:15012"/,
  }),
  "a proxy that was killed for its memory": withWorkload({
    kind: "Deployment",
    reports: (pod) => memoryOf(pod) === "1Gi" ? { proxy: { restartCount: 1, lastState: OUT_OF_MEMORY } } : {},
  }, { expect: { "proxy-memory": "warning" }, says: /was OOM-killed with a limit of 1Gi, restarts: 1/ }),
  "a proxy that was started again": withWorkload({
    kind: "Deployment",
    reports: onNode({ isAnswered: false }, { isAnswered: true }),
  }, {
    expect: { "proxy-restarts": "warning" },
    says: /restarted 2 times, the last time it ended with 255: no token/,
    picks: /recreate its pods, if the cause is gone/,
  }),
};
