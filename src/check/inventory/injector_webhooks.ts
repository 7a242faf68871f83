/** The webhooks that inject, as the API server calls them: the entries of MutatingWebhookConfigurations for pods. */
import type { KubeObject } from "../../core/kube/client/mod.ts";
import { selectorMatches } from "../../core/kube/text/selector.ts";
import { LABEL } from "../../core/mesh/annotations/labels.ts";
import { isList, isMap, newMap, type Value, type ValueMap } from "../../core/value.ts";

/** One webhook of one configuration. */
export interface InjectorWebhook {
  /** Name of the MutatingWebhookConfiguration. */
  readonly configuration: string;
  /** Its own name, such as `namespace.sidecar-injector.istio.io`. */
  readonly name: string;
  /** Of the control plane behind it: the label `istio.io/rev` of the configuration, or `default`. */
  readonly revision: string;
  /** The label `istio.io/tag`, if the configuration is that of a tag. */
  readonly tag: string | undefined;
  readonly failurePolicy: "Fail" | "Ignore";
  readonly timeoutSeconds: number;
  /** Selectors as they are; what is left out selects everything. */
  readonly namespaceSelector: Value;
  readonly objectSelector: Value;
  /** What must hold besides. */
  readonly matchConditions: readonly MatchCondition[];
  /** What the API server calls: a Service, or a URL. */
  readonly target: WebhookTarget;
  /** PEM in base64, as it is in the configuration; `""` if there is none. */
  readonly caBundle: string;
}

/** A condition of the API server's for calling a webhook. */
export interface MatchCondition {
  readonly name: string;
  /** In CEL. */
  readonly expression: string;
}

/** Where a webhook is. */
export type WebhookTarget =
  | { readonly namespace: string; readonly name: string; readonly port: number; readonly path: string }
  | { readonly url: string };

/** How Istio names webhooks that inject: since 1.0 in all configurations, tags and revisions. */
const NAMES = /(^|\.)(sidecar-injector\.)?istio\.io$/;
const APP = "sidecar-injector";

/**
 * The webhooks that inject, in the order of their configurations: those for new pods that have Istio's names, or whose
 * configuration has the label `app: sidecar-injector`.
 */
export function injectorWebhooks(configurations: readonly KubeObject[]): InjectorWebhook[] {
  return configurations.flatMap((configuration) => {
    const { labels, name } = configuration.metadata;
    const has = isMap(labels) ? labels : newMap();
    return listOf(configuration["webhooks"]).filter((webhook) => isInjector(webhook, has))
      .map((webhook) => readWebhook(webhook, name, has));
  });
}

/** Whether the selectors of a webhook let it be sent new pods with such labels in such a namespace. */
export function sendsPod(webhook: InjectorWebhook, namespace: ValueMap, pod: ValueMap): boolean {
  return selectorMatches(webhook.namespaceSelector, namespace).matches &&
    selectorMatches(webhook.objectSelector, pod).matches;
}

/** The labels of an object. */
export function labelsOfObject({ metadata }: KubeObject): ValueMap {
  return isMap(metadata["labels"]) ? metadata["labels"] : newMap();
}

/** The labels of a namespace as the API server sees them: from Kubernetes 1.21 on its name is one of them. */
export function namespaceLabels(name: string, labels: Value | undefined): ValueMap {
  return Object.assign(newMap(), { "kubernetes.io/metadata.name": name }, isMap(labels) ? labels : {});
}

/** `mutatingwebhookconfiguration/istio-sidecar-injector`: how findings name it. */
export function configurationRef({ configuration }: Pick<InjectorWebhook, "configuration">): string {
  return `mutatingwebhookconfiguration/${configuration}`;
}

function isInjector(webhook: ValueMap, labels: ValueMap): boolean {
  const isNamed = NAMES.test(textOf(webhook["name"])) || labels["app"] === APP;
  return isNamed && listOf(webhook["rules"]).some(takesNewPods);
}

function takesNewPods(rule: ValueMap): boolean {
  return has(rule["operations"], "CREATE") && has(rule["resources"], "pods") && has(rule["apiGroups"], "");
}

function has(words: Value | undefined, word: string): boolean {
  return isList(words) && (words.includes(word) || words.includes("*"));
}

function readWebhook(webhook: ValueMap, configuration: string, labels: ValueMap): InjectorWebhook {
  const client = mapOf(webhook["clientConfig"]);
  const tag = textOf(labels["istio.io/tag"]);
  return {
    configuration,
    name: textOf(webhook["name"]),
    revision: textOf(labels[LABEL.revision]) || "default",
    tag: tag === "" ? undefined : tag,
    failurePolicy: webhook["failurePolicy"] === "Ignore" ? "Ignore" : "Fail",
    timeoutSeconds: typeof webhook["timeoutSeconds"] === "number" ? webhook["timeoutSeconds"] : 10,
    namespaceSelector: webhook["namespaceSelector"] ?? newMap(),
    objectSelector: webhook["objectSelector"] ?? newMap(),
    matchConditions: listOf(webhook["matchConditions"]).map(({ name, expression }) => {
      return { name: textOf(name), expression: textOf(expression) };
    }),
    target: readTarget(client),
    caBundle: textOf(client["caBundle"]),
  };
}

function readTarget(client: ValueMap): WebhookTarget {
  const service = client["service"];
  if (!isMap(service)) return { url: textOf(client["url"]) };
  const { namespace, name, port, path } = service;
  return {
    namespace: textOf(namespace),
    name: textOf(name),
    port: typeof port === "number" ? port : 443,
    path: textOf(path),
  };
}

function mapOf(value: Value | undefined): ValueMap {
  return isMap(value) ? value : newMap();
}

function listOf(value: Value | undefined): ValueMap[] {
  return isList(value) ? value.filter(isMap) : [];
}

function textOf(value: Value | undefined): string {
  return typeof value === "string" ? value : "";
}
