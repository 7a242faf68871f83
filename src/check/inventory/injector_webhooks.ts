/** Finds the injection webhooks in MutatingWebhookConfigurations. */
import type {
  AdmissionregistrationV1WebhookClientConfig,
  V1MutatingWebhook,
  V1RuleWithOperations,
} from "@kubernetes/client-node/models";
import type { KubeObject, LabelSelector, MutatingWebhookConfiguration, Plain } from "../../kube/client/mod.ts";
import { selectorMatches } from "../../kube/text/selector.ts";
import { LABEL } from "../../istio/annotations/labels.ts";
import { isMap, newMap, type Value, type ValueMap } from "../../base/value.ts";

export interface InjectorWebhook {
  readonly configuration: string;
  readonly name: string;
  /** The revision of its control plane: the label `istio.io/rev` of the configuration, or `default`. */
  readonly revision: string;
  readonly tag: string | undefined;
  readonly failurePolicy: "Fail" | "Ignore";
  /** Whether the webhook is called again if a later webhook changes the pod. */
  readonly isReinvoked: boolean;
  readonly timeoutSeconds: number;
  /** An empty selector selects everything. */
  readonly namespaceSelector: LabelSelector;
  readonly objectSelector: LabelSelector;
  readonly matchConditions: readonly MatchCondition[];
  readonly target: WebhookTarget;
  /** Certificates in PEM, encoded as base64; `""` if absent. */
  readonly caBundle: string;
}

export interface MatchCondition {
  readonly name: string;
  readonly expression: string;
}

/** The target of the calls: a Service or a URL. */
export type WebhookTarget =
  | { readonly namespace: string; readonly name: string; readonly port: number; readonly path: string }
  | { readonly url: string };

/** Matches the names of injection webhooks in Istio 1.0 and later. */
const NAMES = /(^|\.)(sidecar-injector\.)?istio\.io$/;
const APP = "sidecar-injector";

/** Returns webhooks for new pods that have an Istio name, or whose configuration has the label of injectors. */
export function injectorWebhooks(configurations: readonly MutatingWebhookConfiguration[]): InjectorWebhook[] {
  return configurations.flatMap(({ metadata: { name, labels = {} }, webhooks = [] }) =>
    webhooks.filter((webhook) => isInjector(webhook, labels)).map((webhook) => readWebhook(webhook, name, labels))
  );
}

/** Returns the mutating webhooks that are called for new pods but do not inject, in call order. */
export function otherWebhooks(configurations: readonly MutatingWebhookConfiguration[]): InjectorWebhook[] {
  return configurations.flatMap(({ metadata: { name, labels = {} }, webhooks = [] }) =>
    webhooks.filter((webhook) => !isInjector(webhook, labels) && (webhook.rules ?? []).some(takesNewPods))
      .map((webhook) => readWebhook(webhook, name, labels))
  );
}

/** Whether the selectors of a webhook match a new pod with these labels, in a namespace with these labels. */
export function sendsPod(webhook: InjectorWebhook, namespace: ValueMap, pod: ValueMap): boolean {
  return selectorMatches(webhook.namespaceSelector, namespace).matches &&
    selectorMatches(webhook.objectSelector, pod).matches;
}

export function anySends(webhooks: readonly InjectorWebhook[], namespace: ValueMap, pod: ValueMap): boolean {
  return webhooks.some((webhook) => sendsPod(webhook, namespace, pod));
}

/** Whether a namespace contains the pods that serve one of the webhooks. */
export function isOfInjector(namespace: string, webhooks: readonly InjectorWebhook[]): boolean {
  return webhooks.some(({ target }) => "namespace" in target && target.namespace === namespace);
}

export function labelsOfObject({ metadata }: KubeObject): ValueMap {
  return isMap(metadata["labels"]) ? metadata["labels"] : newMap();
}

/** Returns the labels of a namespace with the name label, which the API server adds since Kubernetes 1.21. */
export function namespaceLabels(name: string, labels: Value | undefined): ValueMap {
  return Object.assign(newMap(), { "kubernetes.io/metadata.name": name }, isMap(labels) ? labels : {});
}

export function labelsByNamespace(namespaces: readonly KubeObject[]): ReadonlyMap<string, ValueMap> {
  return new Map(namespaces.map(({ metadata }) => [metadata.name, namespaceLabels(metadata.name, metadata["labels"])]));
}

/** Returns the reference of a configuration in findings: `mutatingwebhookconfiguration/istio-sidecar-injector`. */
export function configurationRef({ configuration }: Pick<InjectorWebhook, "configuration">): string {
  return `mutatingwebhookconfiguration/${configuration}`;
}

type Webhook = Plain<V1MutatingWebhook>;
type Labels = Readonly<Record<string, string>>;

function isInjector({ name = "", rules = [] }: Webhook, labels: Labels): boolean {
  return (NAMES.test(name) || labels["app"] === APP) && rules.some(takesNewPods);
}

function takesNewPods({ operations, resources, apiGroups }: Plain<V1RuleWithOperations>): boolean {
  return has(operations, "CREATE") && has(resources, "pods") && has(apiGroups, "");
}

function has(words: readonly string[] = [], word: string): boolean {
  return words.includes(word) || words.includes("*");
}

function readWebhook(webhook: Webhook, configuration: string, labels: Labels): InjectorWebhook {
  const { name = "", failurePolicy, timeoutSeconds = 10, clientConfig = {}, matchConditions = [] } = webhook;
  return {
    configuration,
    name,
    revision: labels[LABEL.revision] || "default",
    tag: labels[LABEL.tag] || undefined,
    failurePolicy: failurePolicy === "Ignore" ? "Ignore" : "Fail",
    isReinvoked: webhook.reinvocationPolicy === "IfNeeded",
    timeoutSeconds,
    namespaceSelector: webhook.namespaceSelector ?? {},
    objectSelector: webhook.objectSelector ?? {},
    matchConditions: matchConditions.map(({ name = "", expression = "" }) => ({ name, expression })),
    target: readTarget(clientConfig),
    caBundle: clientConfig.caBundle ?? "",
  };
}

function readTarget({ service, url = "" }: Plain<AdmissionregistrationV1WebhookClientConfig>): WebhookTarget {
  if (service === undefined) return { url };
  const { namespace = "", name = "", port = 443, path = "" } = service;
  return { namespace, name, port, path };
}
