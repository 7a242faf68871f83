/** Simulates Argo CD: an Application that manages the webhook's configuration, and its sync. */
import { isMap, mapAt, mapsAt, type Value } from "../../../../src/base/value.ts";
import { until } from "../../../support/until.ts";
import { got, merged, removed } from "../../support/cluster/requests.ts";
import { ADMISSION, type Breakage } from "./breaking.ts";
import { makeAuthority } from "./certificates.ts";
import { withWebhook } from "./lost_parts.ts";
import { CONFIGURATION, CONTROL_PLANE, type MeshCluster, objectNamed } from "./mesh_cluster.ts";

const GROUP = "argoproj.io";
const KIND = "MutatingWebhookConfiguration";

/** The same as Argo CD's own definition, but without a schema. */
const DEFINITION = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `applications.${GROUP}` },
  spec: {
    group: GROUP,
    names: { kind: "Application", listKind: "ApplicationList", plural: "applications", singular: "application" },
    scope: "Namespaced",
    versions: [{
      name: "v1alpha1",
      served: true,
      storage: true,
      schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
    }],
  },
};

const APPLICATION = {
  apiVersion: `${GROUP}/v1alpha1`,
  kind: "Application",
  metadata: { name: "istio", namespace: CONTROL_PLANE },
  spec: { project: "default", syncPolicy: { automated: { selfHeal: true }, syncOptions: ["CreateNamespace=true"] } },
};

const WEBHOOK_CONFIGURATION = objectNamed(KIND, CONFIGURATION);

/** Writes the caBundle from the manifest, unless the Application ignores this field. */
async function synchronise({ cluster, kubectl, authority }: MeshCluster): Promise<void> {
  const path = `/apis/${APPLICATION.apiVersion}/namespaces/${CONTROL_PLANE}/applications/${APPLICATION.metadata.name}`;
  const spec = mapAt(await got(cluster, path), "spec");
  const isNamed = mapsAt(spec, "ignoreDifferences").some(({ group, kind, jqPathExpressions: paths }) => {
    const isOfKind = group === "admissionregistration.k8s.io" && kind === KIND;
    return isOfKind && Array.isArray(paths) && paths.includes(".webhooks[]?.clientConfig.caBundle");
  });
  const { syncOptions } = mapAt(spec, "syncPolicy");
  if (isNamed && Array.isArray(syncOptions) && syncOptions.includes("RespectIgnoreDifferences=true")) return;
  const value = btoa(authority.pem + makeAuthority().pem);
  const patch = JSON.stringify([{ op: "replace", path: "/webhooks/0/clientConfig/caBundle", value }]);
  const manager = "--field-manager=argocd-controller";
  await kubectl("patch", "mutatingwebhookconfiguration", CONFIGURATION, "--type=json", manager, "-p", patch);
}

/** Writes the caBundle of the webhook's authority, as the webhook does. */
async function writeBundle({ cluster, authority }: MeshCluster): Promise<void> {
  const { webhooks = null } = await got(cluster, `/apis/${ADMISSION}/mutatingwebhookconfigurations/${CONFIGURATION}`);
  const written = mapsAt({ webhooks }, "webhooks").map((webhook): Value => {
    return { ...webhook, clientConfig: { ...mapAt(webhook, "clientConfig"), caBundle: btoa(authority.pem) } };
  });
  await merged(cluster, WEBHOOK_CONFIGURATION, { webhooks: written });
}

/** Argo CD replaces the caBundle with each sync. */
export const BUNDLE_OF_ARGO_CD: Breakage = {
  async make(mesh) {
    const { cluster } = mesh;
    await mesh.apply(DEFINITION);
    const served = () => got(cluster, `/apis/${APPLICATION.apiVersion}`).then(isMap, () => false);
    await until(served, "Never: the API server serves Applications");
    await mesh.apply(APPLICATION);
    const mark = `${APPLICATION.metadata.name}:admissionregistration.k8s.io/${KIND}:/${CONFIGURATION}`;
    await merged(cluster, WEBHOOK_CONFIGURATION, {
      metadata: { annotations: { "argocd.argoproj.io/tracking-id": mark } },
    });
    await synchronise(mesh);
  },
  async reacts(mesh) {
    await writeBundle(mesh);
    await synchronise(mesh);
  },
  async heal(mesh) {
    await removed(mesh.cluster, DEFINITION);
    await withWebhook(mesh);
  },
  expect: { "webhook-gitops": "warning" },
  says:
    /^mutatingwebhookconfiguration\/.*: both Argo CD and the control plane set its caBundle: .*\nfix: .*Application "istio".*\n.*\nor: .*ignoreDifferences/,
};
