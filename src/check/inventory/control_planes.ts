/** The control planes behind the webhooks, and where each keeps its configuration. */
import { type ClusterChoice, type ClusterNames, clusterNames } from "../../inject/mod.ts";
import type { InjectorWebhook } from "./injector_webhooks.ts";

/** A control plane. */
export interface ControlPlane {
  /** `default` for the one without a name. */
  readonly revision: string;
  /** ConfigMaps, as Istio's installation calls them. */
  readonly names: ClusterNames;
  /** The ConfigMap that `webhook manifests` makes beside a webhook of ours, where the service is one of those. */
  readonly own: string | undefined;
}

/** How `webhook manifests` calls its Service and its ConfigMap. */
const OURS = /^kubectl-mesh-webhook(-|$)/;

/**
 * The control planes that webhooks call, each once; tags call that of their revision. Where there is no webhook it is the
 * one that was chosen.
 */
export function controlPlanes(webhooks: readonly InjectorWebhook[], choice: ClusterChoice): readonly ControlPlane[] {
  const { revision } = choice;
  const wanted = webhooks.filter((webhook) => revision === undefined || webhook.revision === revision);
  if (wanted.length === 0) return [{ revision: revision ?? "default", names: clusterNames(choice), own: undefined }];
  const planes = wanted.map((webhook) => controlPlaneOf(webhook, choice));
  return [...new Map(planes.map((plane) => [planeKey(plane), plane])).values()];
}

/** The control plane that a webhook calls; it keeps its configuration in the namespace of its Service. */
export function controlPlaneOf({ revision, target }: InjectorWebhook, choice: ClusterChoice): ControlPlane {
  const service = "name" in target ? target : undefined;
  const istioNamespace = service?.namespace ?? choice.istioNamespace;
  const own = service !== undefined && OURS.test(service.name) ? service.name : undefined;
  return { revision, names: clusterNames({ ...choice, revision, istioNamespace }), own };
}

/** What tells control planes apart. */
export function planeKey({ revision, names, own }: ControlPlane): string {
  return [revision, names.namespace, names.injector, names.mesh, own ?? ""].join(" ");
}
