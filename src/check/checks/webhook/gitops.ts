/** GitOps controllers that write the caBundle, which belongs to the control plane (argo-cd #25447). */
import { isMap, mapAt, mapsAt, textAt, type ValueMap } from "../../../core/value.ts";
import type { MutatingWebhookConfiguration } from "../../../core/kube/client/mod.ts";
import { byHand } from "../../advice/advice.ts";
import type { Finding } from "../../check.ts";
import { configurationRef, injectorWebhooks } from "../../inventory/injector_webhooks.ts";
import type { Facts } from "../../facts.ts";
import { findingOf, type Problem } from "../findings.ts";

/** Field managers of GitOps controllers, and their fix. */
const TOOLS: readonly { readonly manager: RegExp; readonly name: string; readonly fix: string }[] = [
  {
    manager: /^argocd-/,
    name: "Argo CD",
    fix: "set in its Application: ignoreDifferences: [{group: admissionregistration.k8s.io, " +
      'kind: MutatingWebhookConfiguration, jqPathExpressions: [".webhooks[]?.clientConfig.caBundle"]}], and ' +
      "syncPolicy: {syncOptions: [RespectIgnoreDifferences=true]}",
  },
  {
    manager: /^(kustomize|helm)-controller$/,
    name: "Flux",
    fix: "remove caBundle from the manifest: server-side apply leaves fields alone that a manifest does not have",
  },
];

/** The API server records who set each field: a controller that owns the caBundle replaces it at each sync. */
export async function bundleIsUnmanaged(facts: Facts): Promise<Finding> {
  const configurations = await facts.mutatingWebhooks();
  const own = new Set(injectorWebhooks(configurations).map(({ configuration }) => configuration));
  const problems = configurations.filter(({ metadata }) => own.has(metadata.name)).flatMap((each): Problem[] => {
    const tool = TOOLS.find(({ manager }) => owners(each).some((name) => manager.test(name)));
    if (tool === undefined) return [];
    const object = configurationRef({ configuration: each.metadata.name });
    const message = `${tool.name} sets its caBundle, and so does the control plane: each sync breaks injection`;
    return [{ object, result: "warning", message, advice: [byHand(tool.fix, "webhook")] }];
  });
  return findingOf(problems);
}

/** The managers that own the caBundle of a webhook. */
function owners({ metadata }: MutatingWebhookConfiguration): readonly string[] {
  return mapsAt({ ...metadata }, "managedFields").filter((entry) => ownsBundle(mapAt(entry, "fieldsV1")))
    .map((entry) => textAt(entry, "manager"));
}

function ownsBundle(fields: ValueMap): boolean {
  const webhooks = Object.values(mapAt(fields, "f:webhooks")).filter(isMap);
  return webhooks.some((webhook) => "f:caBundle" in mapAt(webhook, "f:clientConfig"));
}
