/** Single problems of a healthy mesh, and their fixes. */
import { isMap, mapAt, textAt, type ValueMap } from "../../../../src/core/value.ts";
import { findProxy } from "../../../../src/inject/mod.ts";

import { makeAuthority } from "./certificates.ts";
import {
  CONFIGURATION,
  configurationsOf,
  CONTROL_PLANE,
  endpointsOf,
  podOf,
  removePod,
  rootCertificateIn,
  runPod,
  secretOf,
  serviceTo,
  setKubelet,
  WEBHOOK,
} from "./mesh_cluster.ts";

import { capturedByNode, mounted, restartedWebhook, withWorkload } from "./controllers.ts";
import { atToldLine, named } from "./editor.ts";
import {
  ADMISSION,
  at,
  Breakage,
  calling,
  closedPort,
  configMap,
  configured,
  connectAnew,
  dropping,
  labelled,
  NOBODY,
  POLICY,
  registered,
  serving,
  silentPort,
  withBundle,
  withObject,
  withoutNamespaces,
  withPod,
} from "./breaking.ts";
import { reported } from "../../support/cluster/requests.ts";

const DEPLOYMENT = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web", namespace: "mesh", labels: { "sidecar.istio.io/inject": "false" } },
  spec: {
    selector: { matchLabels: { app: "web" } },
    template: { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "app", image: "a" }] } },
  },
};

/** The sidecar of the pod loses its restartPolicy, as by a webhook with old types. */
const POLICY_PATCH = { op: "remove", path: "/spec/initContainers/0/restartPolicy" };

const OUT_OF_MEMORY = { terminated: { exitCode: 137, reason: "OOMKilled" } };
const CRASHED = { terminated: { exitCode: 255, reason: "Error", message: "no token" } };

/** The limit of the proxy. */
function memoryOf(pod: ValueMap): string {
  return textAt(mapAt(mapAt(findProxy(pod) ?? {}, "resources"), "limits"), "memory");
}

/** All problems by name. */
export const BREAKAGES: Readonly<Record<string, Breakage>> = {
  "the ConfigMap of the control plane is gone": {
    make: ({ kubectl }) => kubectl("delete", "configmap", WEBHOOK, "-n", CONTROL_PLANE),
    heal: (mesh) => mesh.apply(configMap()),
    told: { "injector-config-present": "error" },
    says: /There is neither the ConfigMap "kubectl-mesh-webhook" nor "istio-sidecar-injector"/,
  },
  "values that are no YAML": configured(
    "values",
    (text) => text.replace("imagePullSecrets: []", "imagePullSecrets: []]"),
    {
      told: { "injector-config-valid": "error" },
      says: /^configmap\/istio-system\/kubectl-mesh-webhook: .*\(key "values"\): document 1, line \d+/,
      writer: atToldLine(/\(key "(?<key>values)"\): document 1, line (?<line>\d+)/, "[]]", "[]"),
    },
  ),
  "a template that does not compile": configured("config", (text) => text.replace("{{- end }}", "{{- if }}"), {
    told: { "injector-templates-compile": "error" },
    says: /The template "sidecar" cannot be parsed: line 35: missing value for if/,
    writer: atToldLine(
      /\(key "(?<key>config)"\).*The template "(?<under>sidecar)" cannot be parsed: line (?<line>\d+)/,
      "{{- if }}",
      "{{- end }}",
    ),
  }),
  "a mesh configuration of another type": configured("mesh", () => "defaultConfig: {concurrency: many}", {
    told: { "mesh-config-valid": "error" },
    says: /^configmap\/istio-system\/kubectl-mesh-webhook: .*"defaultConfig\.concurrency" must be a whole number/,
    writer: named(
      /\(key "mesh"\).*"defaultConfig\.concurrency" must be a whole number/,
      "concurrency: many",
      "concurrency: 2",
    ),
  }),
  "the policy is disabled": configured("config", (text) => text.replace("policy: enabled", "policy: disabled"), {
    told: { "injector-policy-enabled": "warning", "workload-proxy-unexpected": "warning" },
    says: /the policy is "disabled"/,
    writer: named(/set "policy: enabled" in its key "config"/, "policy: disabled", "policy: enabled"),
  }),
  "no webhook": {
    make: ({ kubectl }) => kubectl("delete", "mutatingwebhookconfiguration", CONFIGURATION),
    heal: (mesh) => mesh.register(),
    told: {
      "webhook-exists": "error",
      "injector-config-present": "error",
      "workload-proxy-unexpected": "warning",
    },
    says: /^no MutatingWebhookConfiguration injects sidecars/,
  },
  "a second webhook": {
    make: async (mesh) => {
      for (const { metadata, ...rest } of configurationsOf(mesh)) {
        await mesh.apply({ ...rest, metadata: { ...(isMap(metadata) ? metadata : {}), name: "second" } });
      }
    },
    heal: ({ kubectl }) => kubectl("delete", "mutatingwebhookconfiguration", "second"),
    told: { "webhook-overlap": "error" },
    says: /^namespace\/mesh: pods without labels match istio-sidecar-injector .* and second/,
  },
  "a tag to a revision that is gone": {
    make: async (mesh) => {
      for (const configuration of configurationsOf(mesh, (each) => ({ ...each, namespaceSelector: NOBODY }))) {
        const labels = { app: "sidecar-injector", "istio.io/rev": "1-20", "istio.io/tag": "prod" };
        await mesh.apply({ ...configuration, metadata: { name: "tag", labels } });
      }
    },
    heal: ({ kubectl }) => kubectl("delete", "mutatingwebhookconfiguration", "tag"),
    told: { "webhook-revision-tags": "error" },
    says: /the tag "prod" points to "1-20", which is not installed/,
  },
  "failurePolicy Ignore": registered((each) => ({ ...each, failurePolicy: "Ignore" }), {
    told: { "webhook-failure-policy": "warning" },
    says: /: 1 pod in 1 namespace would start without a sidecar while it is down/,
  }),
  "it is sent its own pods": {
    make: async (mesh) => {
      await mesh.register(withoutNamespaces);
      await mesh.kubectl("label", "namespace", CONTROL_PLANE, "istio-injection=enabled");
    },
    heal: async (mesh) => {
      await mesh.kubectl("label", "namespace", CONTROL_PLANE, "istio-injection-");
      await mesh.register();
    },
    told: { "webhook-own-namespace": "error" },
    says: /"namespace\.sidecar-injector\.istio\.io" is called for its own pods/,
  },
  "selectors that select nobody": registered((each) => ({ ...each, namespaceSelector: NOBODY }), {
    told: {
      "workload-proxy-unexpected": "warning",
      "namespace-revision-served": "warning",
      "namespace-labelled": "warning",
    },
    says: /^pod\/mesh\/cart: it has a proxy, but no webhook is called for new pods/,
  }),
  "no Service": {
    async make(mesh) {
      await mesh.kubectl("delete", "service", WEBHOOK, "-n", CONTROL_PLANE);
      await connectAnew(mesh);
    },
    async heal(mesh) {
      await mesh.apply(serviceTo(mesh.webhook.port));
      await mesh.register();
    },
    told: { "webhook-service": "error", "webhook-reachable": "error" },
    says: /no such Service: "istio-system\/kubectl-mesh-webhook"/,
  },
  "another port of the Service": registered((each) => ({ ...each, clientConfig: at(each, { port: 444 }) }), {
    told: { "webhook-service": "error", "webhook-reachable": "error" },
    says: /has no port 444: it has \d+/,
  }),
  "no pod that is ready": {
    make: (mesh) => mesh.apply(endpointsOf(["waiting"], mesh.webhook.port)),
    heal: (mesh) => mesh.apply(endpointsOf(["ready"], mesh.webhook.port)),
    told: { "webhook-endpoints": "error" },
    says: /has no ready pod: 1 not ready/,
  },
  "a caBundle that has expired": registered(withBundle(makeAuthority(-1n).pem), {
    told: { "webhook-ca-bundle": "error", "webhook-certificate": "error", "webhook-reachable": "error" },
    says: /its caBundle expired at \d{4}-/,
    reacts: restartedWebhook,
  }),
  "a caBundle near its end": registered(withBundle(makeAuthority(20n).pem), {
    told: { "webhook-ca-bundle": "warning", "webhook-certificate": "error", "webhook-reachable": "error" },
    says: /its caBundle expires at .*, in (19|20) days/,
    reacts: restartedWebhook,
  }),
  "a caBundle of another authority": registered(withBundle(makeAuthority().pem), {
    told: { "webhook-certificate": "error", "webhook-reachable": "error" },
    says: /no certificate of its caBundle signed the certificate in the Secret/,
    reacts: restartedWebhook,
  }),
  "a Secret of another authority": {
    make: (mesh) => mesh.apply(secretOf(makeAuthority().sign())),
    heal: (mesh) => mesh.apply(secretOf(mesh.certificate)),
    told: { "webhook-certificate": "error" },
    says: /no certificate of its caBundle signed the certificate in the Secret/,
    reacts: restartedWebhook,
  },
  "a Secret with an expired certificate": {
    make: (mesh) => mesh.apply(secretOf(mesh.authority.sign({ days: -1n }))),
    heal: (mesh) => mesh.apply(secretOf(mesh.certificate)),
    told: { "webhook-certificate": "error" },
    says: /the certificate in the Secret "istio-system\/kubectl-mesh-webhook-certificates" expired at \d{4}-/,
    reacts: restartedWebhook,
  },
  "an expired certificate is served": serving(
    (mesh) => mesh.authority.sign({ days: -1n }),
    { says: /certificate has expired.*\nthe webhook's certificate is not valid now/, reacts: restartedWebhook },
  ),
  "a certificate for another name is served": serving(
    (mesh) => mesh.authority.sign({ name: "other.test" }),
    { says: /\nthe webhook's certificate does not name its Service/, reacts: restartedWebhook },
  ),
  "a certificate of another authority is served": serving(
    () => makeAuthority().sign(),
    {
      says: /signed by unknown authority.*\nthe caBundle of the configuration did not sign the webhook's certificate/,
      reacts: restartedWebhook,
    },
  ),
  "the port is closed": calling(closedPort, {
    told: { "webhook-reachable": "error" },
    says: /connection refused\nnothing listens on port \d+/,
  }),
  "no answer, as behind a firewall": calling(silentPort, {
    told: { "webhook-reachable": "error" },
    says: /deadline exceeded\nno answer in time: on a private cluster a firewall/,
  }),
  "no answer, hidden by failurePolicy Ignore": calling(silentPort, {
    told: { "webhook-reachable": "error", "webhook-failure-policy": "warning" },
    says: /is created without a sidecar after 1 s, the timeout of .*\nno answer in time/,
  }, "Ignore"),
  "another path": registered((each) => ({ ...each, clientConfig: at(each, { path: "/other" }) }), {
    told: { "webhook-reachable": "error" },
    says: /no injector serves that path/,
  }),
  "a later webhook that drops restartPolicy": dropping(POLICY_PATCH, {
    told: { "webhook-chain": "error" },
    says: /^mutatingwebhookconfiguration\/later: "old\.example\.com" takes from injected pods .*: restartPolicy\n/,
  }),
  "a match condition that fails, hidden by failurePolicy Ignore": registered((each) => ({
    ...each,
    failurePolicy: "Ignore",
    matchConditions: [{ name: "team", expression: "object.metadata.annotations['team'] == 'a'" }],
  }), {
    told: { "webhook-reachable": "error", "webhook-failure-policy": "warning" },
    says: /the condition "team" of .* fails for it, and failurePolicy Ignore hides that: /,
    writer: named(
      /condition "team" of .*\n.*matchConditions, in "team": has\(\) and "in" ask whether/,
      /object\.metadata\.annotations\['team'\] == 'a'/g,
      "(!has(object.metadata.annotations) || !('team' in object.metadata.annotations))",
    ),
  }),
  "Argo CD sets the caBundle": {
    make: async ({ kubectl, authority }) => {
      const value = btoa(authority.pem + makeAuthority().pem);
      const patch = JSON.stringify([{ op: "replace", path: "/webhooks/0/clientConfig/caBundle", value }]);
      const manager = "--field-manager=argocd-controller";
      await kubectl("patch", "mutatingwebhookconfiguration", CONFIGURATION, "--type=json", manager, "-p", patch);
    },
    heal: (mesh) => mesh.register(),
    told: { "webhook-gitops": "warning" },
    says: /^mutatingwebhookconfiguration\/.*: Argo CD sets its caBundle, .*\nfix: .*ignoreDifferences/,
  },
  "a validating webhook without pods": withObject({
    apiVersion: ADMISSION,
    kind: "ValidatingWebhookConfiguration",
    metadata: { name: "istio-validator" },
    webhooks: [{
      name: "rev.validation.istio.io",
      admissionReviewVersions: ["v1"],
      sideEffects: "None",
      failurePolicy: "Fail",
      clientConfig: { service: { namespace: CONTROL_PLANE, name: "gone" } },
      rules: [{ apiGroups: ["networking.istio.io"], apiVersions: ["*"], operations: ["CREATE"], resources: ["*"] }],
    }],
  }, {
    told: { "webhook-validation": "error" },
    says: /its Service "istio-system\/gone" has no ready pod, and failurePolicy is Fail/,
  }),
  "istio-injection misspelt": labelled("mesh", { "istio-injection": "enable" }, {
    told: {
      "namespace-label-values": "error",
      "namespace-labelled": "warning",
      "workload-proxy-unexpected": "warning",
    },
    says: /\nfix: correct the label:\nkubectl label namespace mesh istio-injection=enabled --overwrite$/,
  }),
  "both labels": labelled("mesh", { "istio.io/rev": "canary" }, {
    told: { "namespace-one-label": "warning" },
    says: /istio-injection=enabled wins over istio\.io\/rev=canary/,
  }),
  "a revision that nobody serves": labelled("mesh", { "istio-injection": null, "istio.io/rev": "canary" }, {
    told: {
      "namespace-revision-served": "error",
      "namespace-labelled": "warning",
      "workload-proxy-unexpected": "warning",
    },
    says:
      /\nfix: name a revision that is served:\nkubectl label namespace mesh istio\.io\/rev- istio-injection=enabled\nor: install/,
  }),
  "ambient mode beside sidecars": labelled("mesh", { "istio.io/dataplane-mode": "ambient" }, {
    told: { "namespace-one-mode": "warning" },
    says:
      /pods with a sidecar stay out of ambient mode\nfix: .*\nkubectl label namespace mesh istio\.io\/dataplane-mode-\n/,
  }),
  "discoverySelectors that leave the namespace out": configured(
    "mesh",
    (text) => `${text}\ndiscoverySelectors: [{ matchLabels: { nobody: "yes" } }]\n`,
    {
      told: { "namespace-discovered": "error" },
      says: /^namespace\/mesh: its pods are injected, but no discoverySelectors/,
    },
  ),
  "no pull secret": configured(
    "values",
    (text) => text.replace("imagePullSecrets: []", "imagePullSecrets: [registry]"),
    { told: { "namespace-pull-secrets": "error" }, says: /^namespace\/mesh: it has no Secret "registry"/ },
  ),
  "no root certificate": {
    make: ({ kubectl }) => kubectl("delete", "configmap", "istio-ca-root-cert", "-n", "mesh"),
    heal: (mesh) => mesh.apply(rootCertificateIn("mesh")),
    told: { "namespace-root-cert": "error" },
    says: /^namespace\/mesh: it has no ConfigMap "istio-ca-root-cert"/,
  },
  "the namespace has lost its label": labelled("mesh", { "istio-injection": null }, {
    told: { "namespace-labelled": "warning", "workload-proxy-unexpected": "warning" },
    says: /new pods get no proxy\nfix: label it again:\nkubectl label namespace mesh istio-injection=enabled$/,
  }),
  "a pod of another revision": withPod({ labels: { "istio.io/rev": "canary" } }, {
    told: { "namespace-pod-revisions": "warning" },
    says: /its label istio\.io\/rev=canary has no effect/,
  }),
  "a pod older than the label": {
    make: async (mesh) => {
      await runPod(mesh, podOf("old", { namespace: "plain" }));
      await mesh.kubectl("label", "namespace", "plain", "istio-injection=enabled");
    },
    heal: async (mesh) => {
      await mesh.kubectl("label", "namespace", "plain", "istio-injection-");
      await removePod(mesh, "old", "plain");
    },
    told: { "workload-proxy-missing": "error" },
    says: /it has no proxy, but a new pod would get one.*\nkubectl get pod\/old -n plain/s,
  },
  "a pod that opted out after it was made": withPod({}, {
    told: { "workload-proxy-unexpected": "warning" },
    says: /\nnext: see why.*:\nkubectl mesh check injection pod\/odd -n mesh$/,
  }, ({ kubectl }) => kubectl("label", "pod", "odd", "-n", "mesh", "sidecar.istio.io/inject=false")),
  "a proxy of an earlier version": withPod({}, {
    told: { "workload-proxy-current": "warning" },
    says: /its proxy is "example\.com\/proxyv2:1\.0", new pods get "/,
  }, ({ kubectl }) => kubectl("set", "image", "-n", "mesh", "pod/odd", "istio-proxy=example.com/proxyv2:1.0")),
  "the host's network": withPod({ spec: { hostNetwork: true } }, {
    told: { "workload-host-network": "warning" },
    says: /it uses the host network/,
  }),
  "the sidecar of another mesh": withPod({
    spec: { containers: [{ name: "app", image: "a" }, { name: "linkerd-proxy", image: "a" }] },
  }, { told: { "workload-other-mesh": "error" }, says: /it has the sidecar "linkerd-proxy" of Linkerd/ }),
  "a Deployment whose pods are refused": {
    make: async (mesh) => {
      const { labels: _labels, ...metadata } = DEPLOYMENT.metadata;
      await mesh.apply({ ...DEPLOYMENT, metadata });
      const conditions = [{
        type: "ReplicaFailure",
        status: "True",
        reason: "FailedCreate",
        message: "exceeded quota",
      }];
      await reported(mesh.cluster, DEPLOYMENT, { conditions });
    },
    heal: ({ kubectl }) => kubectl("delete", "deployment", "web", "-n", "mesh"),
    told: { "workload-pods-created": "error" },
    says: /^deployment\/mesh\/web: its pods are refused: exceeded quota/,
  },
  "a Windows pod": withPod({ spec: { nodeSelector: { "kubernetes.io/os": "windows" } } }, {
    told: { "workload-windows": "error" },
    says: /^pod\/mesh\/odd: it is a Windows pod/,
  }),
  "an init container between the capture and the proxy": capturedByNode(withWorkload({
    kind: "Deployment",
    spec: { initContainers: [{ name: "migrate", image: "a" }] },
  }, { told: { "workload-init-network": "warning" }, says: /its init containers "migrate" run before the proxy/ })),
  "a Job whose proxy goes on": withWorkload({
    kind: "CronJob",
    reports: () => ({ others: { ready: false, state: { terminated: { exitCode: 0 } } } }),
  }, { told: { "workload-jobs": "error" }, says: /its containers are done, but the proxy keeps running/ }),
  "an application as the proxy's user": withWorkload({
    kind: "Deployment",
    container: { securityContext: { runAsUser: 1337 } },
  }, {
    told: { "workload-proxy-user": "error" },
    says: /its containers "app" run as the proxy user 1337/,
    writer: named(/another runAsUser in spec\.template\.spec\.securityContext/, "runAsUser: 1337", "runAsUser: 1000"),
  }),
  "an application at the proxy's port": withWorkload({
    kind: "Deployment",
    container: { ports: [{ containerPort: 15021 }] },
  }, {
    told: { "workload-ports": "error" },
    says: /15021 of "app" \(the health check\)/,
    writer: named(/in spec\.template\.spec\.containers/, "containerPort: 15021", "containerPort: 8080"),
  }),
  "a label on the workload itself": withObject(DEPLOYMENT, {
    told: { "workload-label-place": "warning" },
    says: /is on the Deployment itself.*\nfix: remove it.*\n.*\nor: .*\nkubectl patch deployment\/web -n mesh/,
  }),
  "the level baseline": labelled("mesh", { "pod-security.kubernetes.io/enforce": "baseline" }, {
    told: { "pod-security": "error" },
    says: /enforces baseline, and .* NET_ADMIN and NET_RAW/,
  }),
  "a user outside OpenShift's range": {
    make: ({ kubectl }) => kubectl("annotate", "namespace", "mesh", "openshift.io/sa.scc.uid-range=1000650000/10000"),
    heal: ({ kubectl }) => kubectl("annotate", "namespace", "mesh", "openshift.io/sa.scc.uid-range-"),
    told: { "scc-ranges": "warning" },
    says: /^namespace\/mesh: its range of users is 1000650000\/10000, and .*"istio-proxy" runs as 1337/,
  },
  "a policy against what injection adds": {
    make: async (mesh) => {
      for (const object of POLICY) await mesh.apply(object);
    },
    heal: async ({ kubectl }) => {
      for (const { kind } of POLICY) await kubectl("delete", kind, "no-init");
    },
    told: { "pod-admission": "error" },
    says: /^namespace\/mesh: refuses injected pods: .*ValidatingAdmissionPolicy 'no-init'.*no init containers/,
    writer: named(
      /the validations of the policy "no-init"/,
      "!has(object.spec.initContainers)",
      '!has(object.spec.initContainers) || object.spec.initContainers.all(c, c.name.startsWith("istio-"))',
    ),
  },
  "values that make an invalid pod": mounted(
    configured("values", (text) => text.replace('imagePullPolicy: ""', "imagePullPolicy: Sometimes"), {
      told: { "pod-admission": "error" },
      says: /^namespace\/mesh: refuses injected pods: .*imagePullPolicy: Unsupported value: "Sometimes"/,
      writer: named(
        /imagePullPolicy: .*\n.*the key "values" or "config"/,
        "imagePullPolicy: Sometimes",
        "imagePullPolicy: Always",
      ),
    }),
  ),
  "an old node": {
    make: (mesh) => setKubelet(mesh, "v1.28.9"),
    heal: (mesh) => setKubelet(mesh, "v1.34.1"),
    told: { "native-sidecars": "warning" },
    says: /^node\/node-1: runs Kubernetes v1\.28\.9/,
  },
  "no node for a pod": withPod({
    status: { conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message: "0/1 nodes" }] },
  }, { told: { "proxy-scheduled": "error" }, says: /Unschedulable: 0\/1 nodes/ }),
  "an image that cannot be pulled": withPod({
    proxy: { ready: false, state: { waiting: { reason: "ImagePullBackOff", message: "no such image" } } },
  }, { told: { "proxy-image": "error" }, says: /ImagePullBackOff: no such image/ }),
  "an init container that failed": withPod({
    status: {
      initContainerStatuses: [
        { name: "istio-init", image: "", imageID: "", ready: false, restartCount: 1, state: CRASHED },
      ],
    },
  }, { told: { "proxy-init": "error" }, says: /istio-init ended with 255: no token\n/ }),
  "a proxy that is not ready": withPod({ proxy: { ready: false } }, {
    told: { "proxy-ready": "error" },
    says: /istio-proxy runs but is not ready\nnext: see its log:\nkubectl logs -n mesh odd -c istio-proxy$/,
  }),
  "a proxy that was killed for its memory": withWorkload({
    kind: "Deployment",
    reports: (pod) => memoryOf(pod) === "1Gi" ? { proxy: { restartCount: 1, lastState: OUT_OF_MEMORY } } : {},
  }, { told: { "proxy-memory": "warning" }, says: /was OOM-killed with a limit of 1Gi, restarts: 1/ }),
  "a proxy that was started again": withPod({ proxy: { restartCount: 2, lastState: CRASHED } }, {
    told: { "proxy-restarts": "warning" },
    says: /restarted 2 times, the last time it ended with 255: no token/,
  }),
};
