/** What the labels of a namespace and of a pod ask for, against the revisions that webhooks serve. */
import { LABEL } from "../../core/mesh/annotations/labels.ts";
import { newMap, type Value, type ValueMap } from "../../core/value.ts";
import { type InjectorWebhook, namespaceLabels, sendsPod } from "./injector_webhooks.ts";

/** The values of `istio-injection` that mean something (Istio, "Installing the Sidecar"). */
export const INJECTION_VALUES: readonly string[] = ["enabled", "disabled"];

/** A label that makes a webhook get a namespace's pods. */
export type NamespaceLabel = Readonly<Record<string, string>>;

/** The labels by which namespaces can choose, `istio-injection=enabled` first, as far as a webhook serves them. */
export function servedLabels(webhooks: readonly InjectorWebhook[], namespace: string): readonly NamespaceLabel[] {
  const names = webhooks.flatMap(({ revision, tag }) => [tag ?? "", revision]).filter((name) => name !== "");
  const candidates = [
    { [LABEL.injection]: "enabled" },
    ...[...new Set(names)].map((name) => ({ [LABEL.revision]: name })),
  ];
  return candidates.filter((labels) => isServed(webhooks, namespace, labels));
}

/** Whether pods without labels in a namespace with these labels reach a webhook. */
export function isServed(webhooks: readonly InjectorWebhook[], namespace: string, labels: NamespaceLabel): boolean {
  return webhooks.some((webhook) => sendsPod(webhook, namespaceLabels(namespace, { ...labels }), newMap()));
}

/** The label's text; `undefined` if there is none. */
export function labelText(labels: ValueMap, key: string): string | undefined {
  const value: Value | undefined = labels[key];
  return typeof value === "string" ? value : undefined;
}

/** `istio-injection=enabled or istio.io/rev=canary`. */
export function labelsText(all: readonly NamespaceLabel[]): string {
  return all.flatMap((labels) => Object.entries(labels).map(([key, value]) => `${key}=${value}`)).join(" or ");
}
