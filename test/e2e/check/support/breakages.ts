/** Single problems of a healthy mesh, and their fixes. */
import { isMap } from "../../../../src/base/value.ts";

import { makeAuthority } from "./certificates.ts";
import { configurationsOf, CONTROL_PLANE, objectNamed, rootCertificateIn, secretOf } from "./mesh_cluster.ts";

import { restartedWebhook } from "./controllers.ts";
import { BUNDLE_OF_ARGO_CD } from "./argo_cd.ts";
import { atReportedLine, named } from "./editor.ts";
import { GATEWAY_CRDS } from "./gateway_crds.ts";
import { LOST_PARTS } from "./lost_parts.ts";
import {
  ADMISSION,
  at,
  Breakage,
  calling,
  configured,
  dropping,
  Firewall,
  labelled,
  labelNamespace,
  NOBODY,
  registered,
  serving,
  withBundle,
  withObject,
  withoutNamespaces,
} from "./breaking.ts";
import { SERVING } from "./serving.ts";
import { POD_BREAKAGES } from "./breakages_of_pods.ts";
import { removed } from "../../support/cluster/requests.ts";

/** Removes the sidecar's restartPolicy, as a webhook that uses old types does. */
const POLICY_PATCH = { op: "remove", path: "/spec/initContainers/0/restartPolicy" };

const FIREWALL = new Firewall();

/** All problems, by name. */
export const BREAKAGES: Readonly<Record<string, Breakage>> = {
  ...LOST_PARTS,
  ...GATEWAY_CRDS,
  "values that are no YAML": configured(
    "values",
    (text) => text.replace("imagePullSecrets: []", "imagePullSecrets: []]"),
    {
      expect: { "injector-config-valid": "error" },
      says: /^configmap\/istio-system\/kubectl-mesh-webhook: .*\(key "values"\): document 1, line \d+/,
      writer: atReportedLine(/\(key "(?<key>values)"\): document 1, line (?<line>\d+)/, "[]]", "[]"),
    },
  ),
  "a template that does not compile": configured("config", (text) => text.replace("{{- end }}", "{{- if }}"), {
    expect: { "injector-templates-compile": "error" },
    says: /The template "sidecar" cannot be parsed: line 35: missing value for if/,
    writer: atReportedLine(
      /\(key "(?<key>config)"\).*The template "(?<under>sidecar)" cannot be parsed: line (?<line>\d+)/,
      "{{- if }}",
      "{{- end }}",
    ),
  }),
  "a mesh configuration of another type": configured("mesh", () => "defaultConfig: {concurrency: many}", {
    expect: { "mesh-config-valid": "error" },
    says: /^configmap\/istio-system\/kubectl-mesh-webhook: .*"defaultConfig\.concurrency" must be a whole number/,
    writer: named(
      /\(key "mesh"\).*"defaultConfig\.concurrency" must be a whole number/,
      "concurrency: many",
      "concurrency: 2",
    ),
  }),
  "the policy is disabled": configured("config", (text) => text.replace("policy: enabled", "policy: disabled"), {
    expect: { "injector-policy-enabled": "warning", "workload-proxy-unexpected": "warning" },
    says: /the policy is "disabled"/,
    writer: named(/set "policy: enabled" in its key "config"/, "policy: disabled", "policy: enabled"),
  }),
  "a second webhook": {
    make: async (mesh) => {
      for (const { metadata, ...rest } of configurationsOf(mesh)) {
        await mesh.apply({ ...rest, metadata: { ...(isMap(metadata) ? metadata : {}), name: "second" } });
      }
    },
    heal: ({ cluster }) => removed(cluster, objectNamed("MutatingWebhookConfiguration", "second")),
    expect: { "webhook-overlap": "error" },
    says: /^namespace\/mesh: pods without labels match istio-sidecar-injector .* and second/,
  },
  "a tag to a revision that is gone": {
    make: async (mesh) => {
      for (const configuration of configurationsOf(mesh, (each) => ({ ...each, namespaceSelector: NOBODY }))) {
        const labels = { app: "sidecar-injector", "istio.io/rev": "1-20", "istio.io/tag": "prod" };
        await mesh.apply({ ...configuration, metadata: { name: "tag", labels } });
      }
    },
    heal: ({ cluster }) => removed(cluster, objectNamed("MutatingWebhookConfiguration", "tag")),
    expect: { "webhook-revision-tags": "error" },
    says: /the tag "prod" points to "1-20", which is not installed/,
  },
  "failurePolicy Ignore": registered((each) => ({ ...each, failurePolicy: "Ignore" }), {
    expect: { "webhook-failure-policy": "warning" },
    says: /: 1 pod in 1 namespace would start without a sidecar during an outage/,
  }),
  "it is sent its own pods": {
    make: async (mesh) => {
      await mesh.register(withoutNamespaces);
      await labelNamespace(mesh, CONTROL_PLANE, { "istio-injection": "enabled" });
    },
    heal: async (mesh) => {
      await labelNamespace(mesh, CONTROL_PLANE, { "istio-injection": null });
      await mesh.register();
    },
    expect: { "webhook-own-namespace": "error" },
    says: /"namespace\.sidecar-injector\.istio\.io" is called for its own pods/,
  },
  "another port of the Service": registered((each) => ({ ...each, clientConfig: at(each, { port: 444 }) }), {
    expect: { "webhook-service": "error", "webhook-reachable": "error" },
    says: /has no port 444: it has \d+/,
  }),
  ...SERVING,
  "a caBundle that has expired": registered(withBundle(makeAuthority(-1n).pem), {
    expect: { "webhook-ca-bundle": "error", "webhook-certificate": "error", "webhook-reachable": "error" },
    says: /its caBundle expired at \d{4}-/,
    reacts: restartedWebhook,
  }),
  "a caBundle near its end": registered(withBundle(makeAuthority(20n).pem), {
    expect: { "webhook-ca-bundle": "warning", "webhook-certificate": "error", "webhook-reachable": "error" },
    says: /its caBundle expires at .*, in (19|20) days/,
    reacts: restartedWebhook,
  }),
  "a caBundle of another authority": registered(withBundle(makeAuthority().pem), {
    expect: { "webhook-certificate": "error", "webhook-reachable": "error" },
    says: /no certificate in its caBundle signed the certificate in the Secret/,
    reacts: restartedWebhook,
  }),
  "a Secret of another authority": {
    make: (mesh) => mesh.apply(secretOf(makeAuthority().sign())),
    heal: (mesh) => mesh.apply(secretOf(mesh.certificate)),
    expect: { "webhook-certificate": "error" },
    says: /no certificate in its caBundle signed the certificate in the Secret/,
    reacts: restartedWebhook,
  },
  "a Secret with an expired certificate": {
    make: (mesh) => mesh.apply(secretOf(mesh.authority.sign({ days: -1n }))),
    heal: (mesh) => mesh.apply(secretOf(mesh.certificate)),
    expect: { "webhook-certificate": "error" },
    says: /the certificate in the Secret "istio-system\/kubectl-mesh-webhook-certificates" expired at \d{4}-/,
    reacts: restartedWebhook,
  },
  "an expired certificate is served": serving(
    (mesh) => mesh.authority.sign({ days: -1n }),
    {
      says: /certificate has expired.*\nthe webhook's certificate has expired or is not yet valid/,
      reacts: restartedWebhook,
    },
  ),
  "a certificate for another name is served": serving(
    (mesh) => mesh.authority.sign({ name: "other.test" }),
    { says: /\nthe webhook's certificate does not name its Service/, reacts: restartedWebhook },
  ),
  "a certificate of another authority is served": serving(
    () => makeAuthority().sign(),
    {
      says: /signed by unknown authority.*\nno certificate in the caBundle signed the webhook's certificate/,
      reacts: restartedWebhook,
    },
  ),
  "no answer, as behind a firewall": calling(FIREWALL.listen, {
    outside: FIREWALL.allow,
    expect: { "webhook-reachable": "error" },
    says: /deadline exceeded\nno response in time: on a private cluster, a firewall/,
  }),
  "no answer, hidden by failurePolicy Ignore": calling(FIREWALL.listen, {
    outside: FIREWALL.allow,
    expect: { "webhook-reachable": "error", "webhook-failure-policy": "warning" },
    says: /is created without a sidecar after 1 s, the timeout of .*\nno response in time/,
  }, "Ignore"),
  "another path": registered((each) => ({ ...each, clientConfig: at(each, { path: "/other" }) }), {
    expect: { "webhook-reachable": "error" },
    says: /the injector does not serve the path/,
  }),
  "a later webhook that drops restartPolicy": dropping(POLICY_PATCH, {
    expect: { "webhook-chain": "error" },
    says:
      /^mutatingwebhookconfiguration\/later: "old\.example\.com" removes or changes in injected pods .*: restartPolicy\n/,
  }),
  "a match condition that fails, hidden by failurePolicy Ignore": registered((each) => ({
    ...each,
    failurePolicy: "Ignore",
    matchConditions: [{ name: "team", expression: "object.metadata.annotations['team'] == 'a'" }],
  }), {
    expect: { "webhook-reachable": "error", "webhook-failure-policy": "warning" },
    says: /the condition "team" of .* fails for the pod, and failurePolicy Ignore hides the failure: /,
    writer: named(
      /condition "team" of .*\n.*matchConditions, in "team"; has\(\) and "in" test whether/,
      /object\.metadata\.annotations\['team'\] == 'a'/g,
      "(!has(object.metadata.annotations) || !('team' in object.metadata.annotations))",
    ),
  }),
  "Argo CD sets the caBundle": BUNDLE_OF_ARGO_CD,
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
    expect: { "webhook-validation": "error" },
    says: /its Service "istio-system\/gone" has no ready pod, and failurePolicy is Fail/,
  }),
  "istio-injection misspelt": labelled("mesh", { "istio-injection": "enable" }, {
    expect: {
      "namespace-label-values": "error",
      "namespace-labelled": "warning",
      "workload-proxy-unexpected": "warning",
    },
    says: /\nfix: correct the label:\nkubectl label namespace mesh istio-injection=enabled --overwrite$/,
  }),
  "both labels": labelled("mesh", { "istio.io/rev": "canary" }, {
    expect: { "namespace-one-label": "warning" },
    says: /istio-injection=enabled takes precedence, so istio\.io\/rev=canary/,
  }),
  "a revision that nobody serves": labelled("mesh", { "istio-injection": null, "istio.io/rev": "canary" }, {
    expect: {
      "namespace-revision-served": "error",
      "namespace-labelled": "warning",
      "workload-proxy-unexpected": "warning",
    },
    says:
      /\nfix: use a revision that a webhook serves:\nkubectl label namespace mesh istio\.io\/rev- istio-injection=enabled\nor: install/,
  }),
  "ambient mode beside sidecars": labelled("mesh", { "istio.io/dataplane-mode": "ambient" }, {
    expect: { "namespace-one-mode": "warning" },
    says:
      /pods with a sidecar stay out of ambient mode\nfix: .*\nkubectl label namespace mesh istio\.io\/dataplane-mode-\n/,
  }),
  "discoverySelectors that leave the namespace out": configured(
    "mesh",
    (text) => `${text}\ndiscoverySelectors: [{ matchLabels: { nobody: "yes" } }]\n`,
    {
      expect: { "namespace-discovered": "error" },
      says: /^namespace\/mesh: its pods are injected, but no discoverySelectors/,
    },
  ),
  "no pull secret": configured(
    "values",
    (text) => text.replace("imagePullSecrets: []", "imagePullSecrets: [registry]"),
    { expect: { "namespace-pull-secrets": "error" }, says: /^namespace\/mesh: it has no Secret "registry"/ },
  ),
  "no root certificate": {
    make: ({ cluster }) => removed(cluster, rootCertificateIn("mesh")),
    heal: (mesh) => mesh.apply(rootCertificateIn("mesh")),
    expect: { "namespace-root-cert": "error" },
    says: /^namespace\/mesh: it has no ConfigMap "istio-ca-root-cert"/,
  },
  "the namespace has lost its label": labelled("mesh", { "istio-injection": null }, {
    expect: { "namespace-labelled": "warning", "workload-proxy-unexpected": "warning" },
    says:
      /new pods get no proxy\nfix: label the namespace again:\nkubectl label namespace mesh istio-injection=enabled$/,
  }),
  ...POD_BREAKAGES,
};
