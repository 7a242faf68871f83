/** Finds the MutatingWebhookConfigurations of Istio that the manifests replace, because they have the same names. */
import { configurationNames, DEFAULT_REVISION, type Plan } from "./options.ts";

/** An Istio object that applying the manifests replaces, because it has the same name. */
export interface TakeOver {
  readonly name: string;
  readonly owner: string;
  /** Whether installing a control plane creates the object. Otherwise only `istioctl tag set` creates it. */
  readonly isControlPlanes: boolean;
}

/**
 * Returns the Istio objects that the manifests replace.
 *
 * | name                         | creator in Istio                         | replaced                      |
 * |------------------------------|------------------------------------------|-------------------------------|
 * | `istio-sidecar-injector`     | the chart of the default control plane   | for the default revision      |
 * | `istio-sidecar-injector-REV` | the chart of the control plane REV       | if its ConfigMap is read      |
 * | `istio-revision-tag-default` | istioctl install, the chart `base`       | for the tag `default`         |
 * | `istio-revision-tag-TAG`     | `istioctl tag set TAG`                   | if the tag exists             |
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
