/** Manifests for the CNI plugin's DaemonSet, permissions and settings, modeled on Istio's chart istio-cni. */
import type { ValueMap } from "../../base/value.ts";
import { grant, rule } from "./access.ts";
import type { Plan } from "./options.ts";

/** Base name of all objects. The DaemonSet's name is the default of `iptables cni install`. */
const NAME = "mesh-cni";
export const DAEMON_SET = `${NAME}-node`;
const RUN = "/var/run/mesh-cni";
/** Folder in the container under which folders of the node are mounted. */
const HOST = "/host";
const PORTS = { health: 8000, metrics: 15014 } as const;

/** Settings of a platform (Istio, manifests/charts/istio-cni/files/profile-platform-*.yaml). */
interface Platform {
  readonly bin: string;
  readonly net: string;
  /** Multus runs the plugin for pods whose annotation names the plugin's network. Otherwise the plugin is chained. */
  readonly isMultus?: boolean;
}

export const PLATFORMS: Readonly<Record<Plan["platform"], Platform>> = {
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
  const account = { name: NAME, namespace: plan.namespace, labels: LABELS };
  return [
    { apiVersion: "v1", kind: "ServiceAccount", metadata: account },
    ...grant(account, { name: `${NAME}-${plan.namespace}` }, clusterRules(plan)),
    ...grant(account, { name: NAME, namespace: plan.namespace }, [rule("apps", ["daemonsets"], ["get"], [DAEMON_SET])]),
    { apiVersion: "v1", kind: "ConfigMap", metadata: { ...account, name: `${NAME}-config` }, data: settings(plan) },
    ...PLATFORMS[plan.platform].isMultus === true ? [NETWORK] : [],
    daemonSet(plan),
  ];
}

const LABELS = { "app.kubernetes.io/name": NAME, "app.kubernetes.io/part-of": "kubectl-mesh" };

function settings(plan: Plan): Record<string, string> {
  const { bin, net, isMultus = false } = PLATFORMS[plan.platform];
  return {
    CHAINED_CNI_PLUGIN: String(!isMultus),
    CNI_BIN_DIR: bin,
    CNI_NET_DIR: net,
    EXCLUDE_NAMESPACES: "kube-system",
    REPAIR: plan.cniRepair,
    ...plan.cniTaint === "" ? {} : { NODE_TAINT: plan.cniTaint },
  };
}

/** Permissions to read pods, and to repair pods that started without the plugin. */
function clusterRules({ cniRepair, cniTaint, platform }: Plan): ValueMap[] {
  const repair: Readonly<Record<Plan["cniRepair"], ValueMap[]>> = {
    fix: [],
    delete: [rule("", ["pods"], ["delete"])],
    label: [rule("", ["pods/status"], ["patch"])],
  };
  return [
    rule("", ["pods"], ["get", "list", "watch"]),
    rule("", ["events"], ["create"]),
    ...repair[cniRepair],
    ...cniTaint === "" ? [] : [rule("", ["nodes"], ["get", "patch"])],
    ...PLATFORMS[platform].isMultus === true
      ? [rule("security.openshift.io", ["securitycontextconstraints"], ["use"], ["privileged"])]
      : [],
  ];
}

/** The network named in the pods' annotation. Multus reads the network's configuration from the node. */
const NETWORK: ValueMap = {
  apiVersion: "k8s.cni.cncf.io/v1",
  kind: "NetworkAttachmentDefinition",
  metadata: { name: "istio-cni", namespace: "default", labels: LABELS },
};

/** Returns the DaemonSet. Its pods run on every node, before other pods, regardless of taints and resource pressure. */
function daemonSet(plan: Plan): ValueMap {
  const selector = { "app.kubernetes.io/name": NAME };
  const { bin, net } = PLATFORMS[plan.platform];
  return {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { name: DAEMON_SET, namespace: plan.namespace, labels: LABELS },
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
          labels: { ...LABELS, "istio.io/dataplane-mode": "none", "sidecar.istio.io/inject": "false" },
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
          volumes: [
            { name: "cni-bin-dir", hostPath: { path: bin, type: "DirectoryOrCreate" } },
            { name: "cni-net-dir", hostPath: { path: net, type: "DirectoryOrCreate" } },
            { name: "cni-host-procfs", hostPath: { path: "/proc", type: "Directory" } },
            { name: "cni-run-dir", hostPath: { path: RUN, type: "DirectoryOrCreate" } },
          ],
        },
      },
    },
  };
}

/** The capabilities of istio-cni, and SYS_CHROOT for a test run of the program in the node's root file system. */
const CAPABILITIES = ["NET_ADMIN", "NET_RAW", "SYS_PTRACE", "SYS_ADMIN", "DAC_OVERRIDE", "SYS_CHROOT"];

function container(plan: Plan): ValueMap {
  const fieldOf = (name: string, fieldPath: string) => ({ name, valueFrom: { fieldRef: { fieldPath } } });
  const { bin, net, isMultus = false } = PLATFORMS[plan.platform];
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
    volumeMounts: [
      { name: "cni-bin-dir", mountPath: `${HOST}${bin}` },
      { name: "cni-net-dir", mountPath: `${HOST}${net}` },
      { name: "cni-host-procfs", mountPath: `${HOST}/proc`, readOnly: true },
      { name: "cni-run-dir", mountPath: RUN },
    ],
  };
}
