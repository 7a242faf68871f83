/** Manifests for the CNI plugin's DaemonSet, permissions and settings, modeled on Istio's chart istio-cni. */
import type { Value, ValueMap } from "../../base/value.ts";
import type { Plan } from "./options.ts";

/** Base name of all objects. The DaemonSet's name is the default of `iptables cni install`. */
const NAME = "mesh-cni";
export const DAEMON_SET = `${NAME}-node`;
const RUN = "/var/run/mesh-cni";
/** Folder in the container under which folders of the node are mounted. */
const HOST = "/host";
const RBAC = "rbac.authorization.k8s.io";
const PORTS = { health: 8000, metrics: 15014 } as const;

/** Settings of a platform (Istio, manifests/charts/istio-cni/files/profile-platform-*.yaml). */
interface Platform {
  readonly bin: string;
  readonly net: string;
  /** Multus calls the plugin as a separate network. */
  readonly isMultus?: boolean;
}

export const PLATFORMS: Readonly<Record<string, Platform>> = {
  default: { bin: "/opt/cni/bin", net: "/etc/cni/net.d" },
  gke: { bin: "/home/kubernetes/bin", net: "/etc/cni/net.d" },
  k3d: { bin: "/bin", net: "/var/lib/rancher/k3s/agent/etc/cni/net.d" },
  k3s: { bin: "/var/lib/rancher/k3s/data/cni", net: "/var/lib/rancher/k3s/agent/etc/cni/net.d" },
  microk8s: { bin: "/var/snap/microk8s/current/opt/cni/bin", net: "/var/snap/microk8s/current/args/cni-network" },
  openshift: { bin: "/var/lib/cni/bin", net: "/etc/cni/multus/net.d", isMultus: true },
};

/** Returns the CNI plugin's objects; empty if the manifests do not use the plugin. */
export function cniManifests(plan: Plan): ValueMap[] {
  if (plan.configuration.cni !== true) return [];
  const metadata = { name: NAME, namespace: plan.namespace, labels: labels() };
  return [
    { apiVersion: "v1", kind: "ServiceAccount", metadata },
    ...grants(plan),
    { apiVersion: "v1", kind: "ConfigMap", metadata: { ...metadata, name: `${NAME}-config` }, data: settings(plan) },
    ...platformOf(plan).isMultus === true ? [network()] : [],
    daemonSet(plan),
  ];
}

function platformOf({ platform }: Plan): Platform {
  return PLATFORMS[platform] ?? { bin: "", net: "" };
}

function labels(): Record<string, string> {
  return { "app.kubernetes.io/name": NAME, "app.kubernetes.io/part-of": "kubectl-mesh" };
}

/** Environment variables for `iptables cni install`. */
function settings(plan: Plan): Record<string, string> {
  const { bin, net, isMultus = false } = platformOf(plan);
  return {
    CHAINED_CNI_PLUGIN: String(!isMultus),
    CNI_BIN_DIR: bin,
    CNI_NET_DIR: net,
    EXCLUDE_NAMESPACES: "kube-system",
    REPAIR: plan.cniRepair,
    ...plan.cniTaint === "" ? {} : { NODE_TAINT: plan.cniTaint },
  };
}

/** Permissions to read pods, to repair pods that started without the plugin, and to read the DaemonSet. */
function grants(plan: Plan): ValueMap[] {
  const repair: Readonly<Record<Plan["cniRepair"], ValueMap[]>> = {
    fix: [],
    delete: [rule("", "pods", ["delete"])],
    label: [rule("", "pods/status", ["patch"])],
  };
  const scc = platformOf(plan).isMultus === true
    ? [{ ...rule("security.openshift.io", "securitycontextconstraints", ["use"]), resourceNames: ["privileged"] }]
    : [];
  const cluster = [
    rule("", "pods", ["get", "list", "watch"]),
    rule("", "events", ["create"]),
    ...repair[plan.cniRepair],
    ...plan.cniTaint === "" ? [] : [rule("", "nodes", ["get", "patch"])],
    ...scc,
  ];
  const own = [{ ...rule("apps", "daemonsets", ["get"]), resourceNames: [DAEMON_SET] }];
  return [
    ...grant(plan, { kind: "ClusterRole", metadata: { name: `${NAME}-${plan.namespace}`, labels: labels() } }, cluster),
    ...grant(plan, { kind: "Role", metadata: { name: NAME, namespace: plan.namespace, labels: labels() } }, own),
  ];
}

function rule(group: string, resource: string, verbs: string[]): ValueMap {
  return { apiGroups: [group], resources: [resource], verbs };
}

function grant(
  { namespace }: Plan,
  { kind, metadata }: { readonly kind: string; readonly metadata: ValueMap & { readonly name: string } },
  rules: ValueMap[],
): ValueMap[] {
  return [
    { apiVersion: `${RBAC}/v1`, kind, metadata, rules },
    {
      apiVersion: `${RBAC}/v1`,
      kind: `${kind}Binding`,
      metadata,
      roleRef: { apiGroup: RBAC, kind, name: metadata.name },
      subjects: [{ kind: "ServiceAccount", name: NAME, namespace }],
    },
  ];
}

/** The network named in the pods' annotation. Multus reads the network's configuration from the node. */
function network(): ValueMap {
  return {
    apiVersion: "k8s.cni.cncf.io/v1",
    kind: "NetworkAttachmentDefinition",
    metadata: { name: "istio-cni", namespace: "default", labels: labels() },
  };
}

/** Runs on every node, before other pods, regardless of taints and resource pressure. */
function daemonSet(plan: Plan): ValueMap {
  const selector = { "app.kubernetes.io/name": NAME };
  return {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { name: DAEMON_SET, namespace: plan.namespace, labels: labels() },
    spec: {
      selector: { matchLabels: selector },
      updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 1 } },
      template: {
        metadata: {
          annotations: {
            "prometheus.io/path": "/metrics",
            "prometheus.io/port": String(PORTS.metrics),
            "prometheus.io/scrape": "true",
          },
          labels: { ...labels(), "istio.io/dataplane-mode": "none", "sidecar.istio.io/inject": "false" },
        },
        spec: {
          serviceAccountName: NAME,
          nodeSelector: { "kubernetes.io/os": "linux" },
          priorityClassName: "system-node-critical",
          tolerations: [
            { effect: "NoSchedule", operator: "Exists" },
            { key: "CriticalAddonsOnly", operator: "Exists" },
            { effect: "NoExecute", operator: "Exists" },
          ],
          terminationGracePeriodSeconds: 30,
          containers: [container(plan)],
          volumes: volumes(plan).map(({ name, path, type }) => ({ name, hostPath: { path, type } })),
        },
      },
    },
  };
}

interface Volume {
  readonly name: string;
  /** Path on the node. */
  readonly path: string;
  readonly type: "Directory" | "DirectoryOrCreate";
  readonly mountPath: string;
  readonly readOnly?: true;
}

function volumes(plan: Plan): Volume[] {
  const { bin, net } = platformOf(plan);
  return [
    { name: "cni-bin-dir", path: bin, type: "DirectoryOrCreate", mountPath: `${HOST}${bin}` },
    { name: "cni-net-dir", path: net, type: "DirectoryOrCreate", mountPath: `${HOST}${net}` },
    { name: "cni-host-procfs", path: "/proc", type: "Directory", mountPath: `${HOST}/proc`, readOnly: true },
    { name: "cni-run-dir", path: RUN, type: "DirectoryOrCreate", mountPath: RUN },
  ];
}

/** The capabilities of istio-cni, and SYS_CHROOT for a test run of the program in the node's root file system. */
const CAPABILITIES = ["NET_ADMIN", "NET_RAW", "SYS_PTRACE", "SYS_ADMIN", "DAC_OVERRIDE", "SYS_CHROOT"];

function container(plan: Plan): ValueMap {
  const fieldOf = (name: string, fieldPath: string) => ({ name, valueFrom: { fieldRef: { fieldPath } } });
  const { isMultus = false } = platformOf(plan);
  return {
    name: "install-cni",
    image: plan.image,
    command: ["kubectl-mesh"],
    args: ["iptables", "cni", "install"],
    envFrom: [{ configMapRef: { name: `${NAME}-config` } }],
    env: [fieldOf("NODE_NAME", "spec.nodeName"), fieldOf("POD_NAMESPACE", "metadata.namespace")],
    ports: [{ name: "http-metrics", containerPort: PORTS.metrics, protocol: "TCP" }],
    readinessProbe: { httpGet: { path: "/readyz", port: PORTS.health }, timeoutSeconds: 3, periodSeconds: 3 },
    livenessProbe: { httpGet: { path: "/healthz", port: PORTS.health }, timeoutSeconds: 3, periodSeconds: 10 },
    resources: { requests: { cpu: "100m", memory: "100Mi" } },
    securityContext: {
      allowPrivilegeEscalation: false,
      capabilities: { add: CAPABILITIES, drop: ["ALL"] },
      privileged: false,
      readOnlyRootFilesystem: true,
      runAsGroup: 0,
      runAsNonRoot: false,
      runAsUser: 0,
      ...isMultus ? { seLinuxOptions: { type: "spc_t" } } : {},
    },
    volumeMounts: volumes(plan).map(({ name, mountPath, readOnly }): Record<string, Value> => ({
      ...{ name, mountPath },
      ...readOnly === undefined ? {} : { readOnly },
    })),
  };
}
