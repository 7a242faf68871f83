/** The review of a pod of a Deployment, as the API server sends it: about 4 kB, with what built-in admission has added. */

const VERSION = { group: "", version: "v1" };

const LABELS = { app: "reviews", version: "v2", "pod-template-hash": "@ID@" };

/** What the ServiceAccount admission plugin adds before webhooks are asked. */
const TOKEN = {
  name: "kube-api-access-7x2lq",
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
  name: "reviews-v2-@ID@",
  uid: "7b1f6c1e-3f0a-4c59-9f0e-8a9d7c2b4e11",
  controller: true,
  blockOwnerDeletion: true,
};

/** The fields that the controller set, shortened: all of them are the fields of the pod again. */
const MANAGED = {
  manager: "kube-controller-manager",
  operation: "Update",
  apiVersion: "v1",
  time: "2026-11-21T12:00:00Z",
  fieldsType: "FieldsV1",
  fieldsV1: {
    "f:metadata": { "f:generateName": {}, "f:labels": { ".": {}, "f:app": {}, "f:version": {} } },
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
        generateName: "reviews-v2-@ID@-",
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

/** The review of the pod of a ReplicaSet of its own: what the webhook would keep for each of them shows as memory. */
export function reviewOf(id: string): string {
  return REVIEW.replaceAll("@ID@", id);
}
