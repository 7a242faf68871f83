/**
 * Whether a pod gets a sidecar: an ordered table of rules; the first answer decides. The order is that of Istio's
 * injectRequired: reasons against injection, the request of the pod, the configuration.
 *
 * | reason                    | answer | when                                                                        |
 * |---------------------------|--------|-----------------------------------------------------------------------------|
 * | pod-host-network          | no     | the pod uses the host network: capture would affect the node's traffic      |
 * | namespace-ignored         | no     | the pod is in a system namespace                                            |
 * | label-inject-false/true   | no/yes | label `sidecar.istio.io/inject`; it hides the annotation                     |
 * | annotation-inject-false/true | no/yes | annotation `sidecar.istio.io/inject`                                     |
 * | never-inject-selector     | no     | the configuration's `neverInjectSelector` matches the pod's labels          |
 * | always-inject-selector    | yes    | the configuration's `alwaysInjectSelector` matches the pod's labels         |
 * | policy-disabled           | no     | the `policy` is `disabled`, and the pod has no request                      |
 * | policy-enabled            | yes    | the `policy` is `enabled`, and the pod has no request                       |
 * | requested                 | yes    | the `policy` is `disabled`, but a person names the manifest                 |
 * | policy-invalid            | no     | the `policy` is neither: the webhook injects nothing                        |
 *
 * Like `istioctl kube-inject`, the command ignores selectors for manifests that a person names; a warning reports that the
 * webhook would decide otherwise.
 *
 * With a configuration of Istio 1.0 to 1.8 the rules of `legacy_request.ts` replace those of label and annotation, and
 * `already-injected` (no) comes second.
 */
import { isEmptySelector, selectorMatches } from "../../kube/mod.ts";
import { ANNOTATION } from "../../istio/mod.ts";
import { textAt, type Value, type ValueMap } from "../../base/value.ts";
import { type Answer, type Decision, no } from "./answer.ts";
import { alreadyInjected, legacyRequest, legacyWarnings } from "./legacy_request.ts";
import { annotationsOf, labelsOf, metadataOf, type Pod, specOf } from "../pod/pod.ts";

/** The inputs of a decision besides the pod. */
export interface DecisionPolicy {
  readonly policy: string;
  readonly neverInjectSelector: readonly Value[];
  readonly alwaysInjectSelector: readonly Value[];
  /** A person names the manifest, so policy and selectors do not apply. */
  readonly byHand: boolean;
  /** `legacy` for a configuration of Istio 1.0 to 1.8. */
  readonly form?: "modern" | "legacy";
}

/** Namespaces that are never injected, as Istio lists them. */
export const IGNORED_NAMESPACES = new Set(["kube-system", "kube-public", "kube-node-lease", "local-path-storage"]);

/** The names of the rules. */
export type RuleName =
  | "host-network"
  | "already-injected"
  | "ignored-namespace"
  | "policy-known"
  | "request"
  | Selecting;
type Selecting = "never-inject-selector" | "always-inject-selector" | "policy";

type Rule = readonly [name: RuleName, answer: (pod: Pod, policy: DecisionPolicy) => Answer | undefined];

/** The rules in order; `early` come after the host network. */
function rules(requestRule: Rule, ...early: readonly Rule[]): readonly Rule[] {
  return [
    ["host-network", hostNetwork],
    ...early,
    ["ignored-namespace", ignoredNamespace],
    ["policy-known", invalidPolicy],
    requestRule,
    ["never-inject-selector", neverSelector],
    ["always-inject-selector", alwaysSelector],
    ["policy", (_pod, policy) => byPolicy(policy)],
  ];
}

const RULES = rules(["request", request]);
const LEGACY_RULES = rules(["request", legacyRequest], [
  "already-injected",
  (pod, { byHand }) => alreadyInjected(pod, byHand),
]);

/** The rules for a form of the configuration, in order; the last one always answers. */
export function rulesFor(form: DecisionPolicy["form"]): readonly Rule[] {
  return form === "legacy" ? LEGACY_RULES : RULES;
}

/** Decides whether a pod is injected. Source of the order: Istio's injectRequired. */
export function decide(pod: Pod, policy: DecisionPolicy): Decision {
  const legacy = policy.form === "legacy";
  const warnings = legacy ? legacyWarnings(pod) : requestWarnings(pod);
  for (const [name, answerOf] of rulesFor(policy.form)) {
    const answer = answerOf(pod, policy);
    if (answer === undefined) continue;
    return { ...answer, warnings: name === "policy" ? [...warnings, ...selectorWarnings(pod, policy)] : warnings };
  }
  return { ...byPolicy(policy), warnings };
}

/** Named manifests are injected, even if the webhook would not inject them: warn. */
function selectorWarnings(pod: Pod, policy: DecisionPolicy): readonly string[] {
  const answer = policy.byHand ? neverSelector(pod, { ...policy, byHand: false }) : undefined;
  return answer === undefined ? [] : [`The webhook would not inject this pod: ${answer.message} (${answer.field})`];
}

function hostNetwork(pod: Pod): Answer | undefined {
  if (specOf(pod)["hostNetwork"] !== true) return undefined;
  return no("pod-host-network", "spec.hostNetwork", "pod uses the host network");
}

function ignoredNamespace(pod: Pod): Answer | undefined {
  const namespace = textAt(metadataOf(pod), "namespace");
  if (!IGNORED_NAMESPACES.has(namespace)) return undefined;
  return no("namespace-ignored", "metadata.namespace", `pods in the namespace "${namespace}" are never injected`);
}

function invalidPolicy(_pod: Pod, { policy, byHand }: DecisionPolicy): Answer | undefined {
  if (byHand || policy === "enabled" || policy === "disabled") return undefined;
  return no("policy-invalid", "policy", `the configuration's policy "${policy}" is neither "enabled" nor "disabled"`);
}

interface Request {
  readonly kind: "label" | "annotation";
  readonly value: string;
}

/** The pod's request: the label, else the annotation. */
function requestOf(pod: Pod): Request | undefined {
  const label = labelsOf(pod)[ANNOTATION.inject];
  if (typeof label === "string") return { kind: "label", value: label };
  const value = annotationsOf(pod)[ANNOTATION.inject];
  return typeof value === "string" ? { kind: "annotation", value } : undefined;
}

function request(pod: Pod): Answer | undefined {
  const requested = requestOf(pod);
  if (requested === undefined || (requested.value !== "true" && requested.value !== "false")) return undefined;
  const field = `metadata.${requested.kind}s["${ANNOTATION.inject}"]`;
  const message = `${requested.kind} "${ANNOTATION.inject}" is "${requested.value}"`;
  return { inject: requested.value === "true", reason: `${requested.kind}-inject-${requested.value}`, field, message };
}

function requestWarnings(pod: Pod): readonly string[] {
  const requested = requestOf(pod);
  if (requested === undefined || ["true", "false", ""].includes(requested.value)) return [];
  return [
    `The ${requested.kind} "${ANNOTATION.inject}" has the value "${requested.value}", which is neither "true" nor "false": it is ignored`,
  ];
}

function neverSelector(pod: Pod, { neverInjectSelector, byHand }: DecisionPolicy): Answer | undefined {
  if (byHand) return undefined;
  const index = firstMatch(neverInjectSelector, labelsOf(pod));
  if (index < 0) return undefined;
  return no(
    "never-inject-selector",
    `neverInjectSelector[${index}]`,
    "the configuration's neverInjectSelector matches",
  );
}

function alwaysSelector(pod: Pod, { alwaysInjectSelector, byHand }: DecisionPolicy): Answer | undefined {
  if (byHand) return undefined;
  const index = firstMatch(alwaysInjectSelector, labelsOf(pod));
  if (index < 0) return undefined;
  const message = "the configuration's alwaysInjectSelector matches";
  return { inject: true, reason: "always-inject-selector", field: `alwaysInjectSelector[${index}]`, message };
}

/** The index of the first selector that matches and is not empty (an empty one matches every pod), or -1. */
function firstMatch(selectors: readonly Value[], labels: ValueMap): number {
  return selectors.findIndex((selector) => !isEmptySelector(selector) && selectorMatches(selector, labels).matches);
}

function byPolicy({ policy, byHand }: DecisionPolicy): Answer {
  if (policy === "enabled") {
    return { inject: true, reason: "policy-enabled", field: "policy", message: 'the policy is "enabled"' };
  }
  if (byHand) return { inject: true, reason: "requested", field: "policy", message: "requested explicitly" };
  return no(
    "policy-disabled",
    "policy",
    'the configuration\'s policy is "disabled" and the pod does not request a sidecar',
  );
}
