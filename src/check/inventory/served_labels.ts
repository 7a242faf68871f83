/** Compares injection labels with the revisions that webhooks serve. */
import { LABEL } from "../../istio/annotations/labels.ts";
import { closest } from "../../base/text/mod.ts";
import { newMap, type Value, type ValueMap } from "../../base/value.ts";
import { anySends, type InjectorWebhook, namespaceLabels } from "./injector_webhooks.ts";

/** Valid values of `istio-injection` (Istio, "Installing the Sidecar"). */
export const INJECTION_VALUES: readonly string[] = ["enabled", "disabled"];

export type NamespaceLabel = Readonly<Record<string, string>>;

/** Returns the injection labels that webhooks serve, with `istio-injection=enabled` first. */
export function servedLabels(webhooks: readonly InjectorWebhook[], namespace: string): readonly NamespaceLabel[] {
  const names = webhooks.flatMap(({ revision, tag }) => [tag ?? "", revision]).filter((name) => name !== "");
  const candidates = [
    { [LABEL.injection]: "enabled" },
    ...[...new Set(names)].map((name) => ({ [LABEL.revision]: name })),
  ];
  return candidates.filter((labels) => isServed(webhooks, namespace, labels));
}

/** Whether a webhook is called for unlabeled pods in a namespace with these labels. */
export function isServed(webhooks: readonly InjectorWebhook[], namespace: string, labels: NamespaceLabel): boolean {
  return anySends(webhooks, namespaceLabels(namespace, { ...labels }), newMap());
}

export function labelText(labels: ValueMap, key: string): string | undefined {
  const value: Value | undefined = labels[key];
  return typeof value === "string" ? value : undefined;
}

/** A namespace label that no webhook reads, and the injection label that it resembles. */
interface NearMiss {
  readonly key: string;
  readonly meant: string;
  /** Such as `the label "istio-injected" has no effect; did you mean "istio-injection"?`. */
  readonly message: string;
}

const KEYS: readonly string[] = [LABEL.injection, LABEL.revision];

/** Label keys that no webhook reads on a namespace, with the likely intended key. */
const NEAR_MISSES: Readonly<Record<string, string>> = {
  "istio-injected": LABEL.injection,
  "istio-inject": LABEL.injection,
  "istio.io/injection": LABEL.injection,
  "sidecar-injection": LABEL.injection,
  "sidecar.istio.io/inject": LABEL.injection,
  "sidecar.istio.io/injection": LABEL.injection,
  "istio-revision": LABEL.revision,
  "istio.io/revision": LABEL.revision,
};

export function nearMisses(labels: ValueMap): readonly NearMiss[] {
  return Object.keys(labels).flatMap((key) => {
    const meant = KEYS.includes(key) ? undefined : NEAR_MISSES[key] ?? closest(key, KEYS);
    if (meant === undefined) return [];
    return [{ key, meant, message: `the label "${key}" has no effect; did you mean "${meant}"?` }];
  });
}

/** Joins labels as text: `istio-injection=enabled or istio.io/rev=canary`. */
export function labelsText(all: readonly NamespaceLabel[]): string {
  return all.flatMap((labels) => Object.entries(labels).map(([key, value]) => `${key}=${value}`)).join(" or ");
}
