/** MutatingWebhookConfigurations of the manifests that Istio may have in the cluster under the same name. */
import { configurationNames, DEFAULT_REVISION, type Plan } from "./options.ts";

/** The name of an Istio object that the manifests use too: applying them replaces that object. */
export interface TakeOver {
  readonly name: string;
  /** What it belongs to. */
  readonly owner: string;
  /** A control plane creates it. Otherwise only `istioctl tag set` does. */
  readonly isControlPlanes: boolean;
}

/**
 * What the manifests replace.
 *
 * | name                         | creator in Istio                         | replaced                      |
 * |------------------------------|------------------------------------------|-------------------------------|
 * | `istio-sidecar-injector`     | the chart of the default control plane   | for the default revision      |
 * | `istio-sidecar-injector-REV` | the chart of the control plane REV       | if its ConfigMap is read      |
 * | `istio-revision-tag-default` | istioctl install, the chart `base`       | for the tag `default`         |
 * | `istio-revision-tag-TAG`     | `istioctl tag set TAG`                   | perhaps                       |
 */
export function takeOversOf(plan: Plan): TakeOver[] {
  const { revision, tags, cluster } = plan;
  const [injector = ""] = configurationNames(plan);
  const isDefault = revision === DEFAULT_REVISION;
  const owner = isDefault ? "istiod's injector" : `the injector of the control plane "${revision}"`;
  return [
    ...isDefault || cluster?.injector === injector ? [{ name: injector, owner, isControlPlanes: true }] : [],
    ...tags.map((tag) => ({
      name: `istio-revision-tag-${tag}`,
      owner: `Istio's tag "${tag}"`,
      isControlPlanes: tag === DEFAULT_REVISION,
    })),
  ];
}
