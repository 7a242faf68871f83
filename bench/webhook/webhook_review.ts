/**
 * The review of a Deployment's pod, as the API server sends it: about 4 kB, with the fields that built-in admission
 * plugins add.
 */

const VERSION = { group: "", version: "v1" };

const LABELS = { app: "reviews", version: "v2", "pod-template-hash": "@HASH@" };

/** The ServiceAccount admission plugin adds this before it calls webhooks. */
const TOKEN = {
  name: "kube-api-access-@END@",
  projected: {
    sources: [
      { serviceAccountToken: { expirationSeconds: 3607, path: "token" } },
      { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
      {
        downwardAPI: {
          items: [{ path: "namespace", fieldRef: { apiVersion: "v1", fieldPath: "metadata.namespace" } }],
        },
      },
    ],
    defaultMode: 420,
  },
};

const PROBE = { scheme: "HTTP", port: 9080, path: "/health" };

const CONTAINER = {
  name: "reviews",
  image: "example.com/bookinfo/reviews-v2:1.20.3",
  imagePullPolicy: "IfNotPresent",
  command: ["/opt/reviews/bin/server"],
  args: ["run", "--port=9080"],
  env: [
    { name: "LOG_DIR", value: "/tmp/logs" },
    { name: "NODE", valueFrom: { fieldRef: { apiVersion: "v1", fieldPath: "spec.nodeName" } } },
    { name: "PASSWORD", valueFrom: { secretKeyRef: { name: "reviews", key: "password" } } },
  ],
  ports: [{ name: "http", containerPort: 9080, protocol: "TCP" }],
  resources: { limits: { cpu: "500m", memory: "512Mi" }, requests: { cpu: "100m", memory: "256Mi" } },
  livenessProbe: { httpGet: PROBE, periodSeconds: 10, timeoutSeconds: 1, successThreshold: 1, failureThreshold: 3 },
  readinessProbe: { httpGet: PROBE, periodSeconds: 5, timeoutSeconds: 1, successThreshold: 1, failureThreshold: 3 },
  securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] }, runAsNonRoot: true },
  volumeMounts: [
    { name: "tmp", mountPath: "/tmp" },
    { name: "wlp-output", mountPath: "/opt/reviews/output" },
    { name: TOKEN.name, mountPath: "/var/run/secrets/kubernetes.io/serviceaccount", readOnly: true },
  ],
  terminationMessagePath: "/dev/termination-log",
  terminationMessagePolicy: "File",
};

const SPEC = {
  volumes: [{ name: "wlp-output", emptyDir: {} }, { name: "tmp", emptyDir: {} }, TOKEN],
  containers: [CONTAINER],
  restartPolicy: "Always",
  terminationGracePeriodSeconds: 30,
  dnsPolicy: "ClusterFirst",
  serviceAccountName: "bookinfo-reviews",
  serviceAccount: "bookinfo-reviews",
  securityContext: {},
  schedulerName: "default-scheduler",
  tolerations: ["not-ready", "unreachable"].map((key) => (
    { key: `node.kubernetes.io/${key}`, operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 }
  )),
  priority: 0,
  enableServiceLinks: true,
  preemptionPolicy: "PreemptLowerPriority",
};

const OWNER = {
  apiVersion: "apps/v1",
  kind: "ReplicaSet",
  name: "reviews-v2-@HASH@",
  uid: "@OWNER@",
  controller: true,
  blockOwnerDeletion: true,
};

/** The fields that the controller manages, shortened: a full list would repeat all fields of the pod. */
const MANAGED = {
  manager: "kube-controller-manager",
  operation: "Update",
  apiVersion: "v1",
  time: "@TIME@",
  fieldsType: "FieldsV1",
  fieldsV1: {
    "f:metadata": {
      "f:generateName": {},
      "f:labels": { ".": {}, "f:app": {}, "f:version": {} },
      "f:ownerReferences": { ".": {}, 'k:{"uid":"@OWNER@"}': {} },
    },
    "f:spec": { "f:containers": { 'k:{"name":"reviews"}': { ".": {}, "f:image": {}, "f:env": {}, "f:ports": {} } } },
  },
};

const REVIEW = JSON.stringify({
  kind: "AdmissionReview",
  apiVersion: "admission.k8s.io/v1",
  request: {
    uid: "@ID@",
    kind: { ...VERSION, kind: "Pod" },
    resource: { ...VERSION, resource: "pods" },
    requestKind: { ...VERSION, kind: "Pod" },
    requestResource: { ...VERSION, resource: "pods" },
    namespace: "bookinfo",
    operation: "CREATE",
    userInfo: {
      username: "system:serviceaccount:kube-system:replicaset-controller",
      uid: "0c0a3a5e-7e0b-4f43-8c57-2b8a1f6f5d20",
      groups: ["system:serviceaccounts", "system:serviceaccounts:kube-system", "system:authenticated"],
    },
    object: {
      kind: "Pod",
      apiVersion: "v1",
      metadata: {
        generateName: "reviews-v2-@HASH@-",
        namespace: "bookinfo",
        creationTimestamp: null,
        labels: LABELS,
        annotations: { "prometheus.io/scrape": "true", "prometheus.io/port": "9080" },
        ownerReferences: [OWNER],
        managedFields: [MANAGED],
      },
      spec: SPEC,
      status: {},
    },
    oldObject: null,
    dryRun: false,
    options: { kind: "CreateOptions", apiVersion: "meta.k8s.io/v1" },
  },
});

/** The characters in generated Kubernetes names (apimachinery, util/rand). */
const LETTERS = "bcdfghjklmnpqrstvwxz2456789";

/**
 * Returns the review of a pod from a new ReplicaSet, created this second, so that anything the webhook keeps per
 * ReplicaSet shows up as memory. With `isNew`, its Deployment, image and application are new too.
 */
export function reviewOf(id: string, isNew = false): string {
  const bytes = id.replaceAll("-", "").match(/../g) ?? [];
  const letters = bytes.map((byte) => LETTERS[parseInt(byte, 16) % LETTERS.length] ?? "").join("");
  const review = REVIEW.replaceAll("@ID@", id).replaceAll("@HASH@", letters.slice(0, 10))
    .replaceAll("@END@", letters.slice(10, 15)).replaceAll("@OWNER@", crypto.randomUUID())
    .replaceAll("@TIME@", `${new Date().toISOString().slice(0, 19)}Z`);
  return isNew ? review.replaceAll("reviews", `reviews-${letters.slice(0, 6)}`) : review;
}
