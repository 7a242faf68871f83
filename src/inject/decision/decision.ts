/**
 * Decides whether a pod gets a sidecar. Rules run in order, and the first rule with an answer decides. As in Istio's
 * injectRequired, exclusions come first, then the pod's label and annotation, then the configuration. docs/inject.md
 * lists the reasons.
 *
 * For manifests that the user names on the command line, selectors are ignored, as in `istioctl kube-inject`, and a
 * warning is given if the webhook would skip the pod. For configurations of Istio 1.0 to 1.8, the rules in
 * `legacy_request.ts` replace those about the label and the annotation.
 */
import { goJson } from "../../golang/go_json.ts";
import { isEmptySelector, selectorMatches } from "../../kube/mod.ts";
import { ANNOTATION } from "../../istio/mod.ts";
import { isList, textAt, type Value, type ValueMap } from "../../base/value.ts";
import { type Answer, type Decision, no } from "./answer.ts";
import { alreadyInjected, legacyRequest, legacyWarnings } from "./legacy_request.ts";
import { annotation, annotationsOf, labelsOf, metadataOf, type Pod, specOf } from "../pod/pod.ts";

/** The inputs of a decision besides the pod. */
export interface DecisionPolicy {
  readonly policy: string;
  readonly neverInjectSelector: readonly Value[];
  readonly alwaysInjectSelector: readonly Value[];
  /** Whether the user names the manifest on the command line, so that policy and selectors do not apply. */
  readonly byHand: boolean;
  /** `legacy` for a configuration of Istio 1.0 to 1.8. */
  readonly form?: "modern" | "legacy";
}

const INJECT = ANNOTATION.inject;

/** Namespaces whose pods are never injected. Istio has the same list. */
export const IGNORED_NAMESPACES = new Set(["kube-system", "kube-public", "kube-node-lease", "local-path-storage"]);

/** A value that a rule reads from the pod or the configuration. `value` is `undefined` if the field is missing. */
export interface Reading {
  readonly rule: string;
  readonly field: string;
  readonly value: string | undefined;
}

interface Rule {
  readonly name: string;
  readonly answer: (pod: Pod, policy: DecisionPolicy) => Answer | undefined;
  readonly reads: (pod: Pod, policy: DecisionPolicy) => readonly Reading[];
}

/** Builds a rule that reads one field. */
function rule(
  name: string,
  answer: Rule["answer"],
  field: string,
  value: (pod: Pod, policy: DecisionPolicy) => Value | undefined,
): Rule {
  return { name, answer, reads: (pod, policy) => [reading(name, field, value(pod, policy))] };
}

function reading(name: string, field: string, value: Value | undefined): Reading {
  if (isList(value)) {
    return { rule: name, field, value: value.length === 0 ? undefined : goJson(value, { escapeHtml: false }) };
  }
  return { rule: name, field, value: value === undefined || value === null ? undefined : String(value) };
}

/** The rules in order. The last rule always decides. */
export const RULES: readonly Rule[] = [
  rule("host-network", hostNetwork, "spec.hostNetwork", (pod) => specOf(pod)["hostNetwork"]),
  {
    name: "already-injected",
    answer: (pod, { form, byHand }) => form === "legacy" ? alreadyInjected(pod, byHand) : undefined,
    reads: (_pod, { form, byHand }) =>
      form === "legacy" && byHand ? [reading("already-injected", "spec.containers", undefined)] : [],
  },
  rule("ignored-namespace", ignoredNamespace, "metadata.namespace", (pod) => textAt(metadataOf(pod), "namespace")),
  rule("policy-known", invalidPolicy, "policy", (_pod, { policy }) => policy),
  {
    name: "request",
    answer: (pod, { form }) => form === "legacy" ? legacyRequest(pod) : request(pod),
    reads: (pod, { form }) => [
      ...form === "legacy" ? [] : [reading("label", `metadata.labels["${INJECT}"]`, labelsOf(pod)[INJECT])],
      reading("annotation", `metadata.annotations["${INJECT}"]`, annotation(pod, INJECT)),
    ],
  },
  rule(
    "never-inject-selector",
    neverSelector,
    "neverInjectSelector",
    (_pod, { neverInjectSelector }) => [...neverInjectSelector],
  ),
  rule(
    "always-inject-selector",
    alwaysSelector,
    "alwaysInjectSelector",
    (_pod, { alwaysInjectSelector }) => [...alwaysInjectSelector],
  ),
  rule("policy", (_pod, policy) => byPolicy(policy), "policy", (_pod, { policy }) => policy),
];

/** Decides whether a pod is injected. Warnings do not change the decision. */
export function decide(pod: Pod, policy: DecisionPolicy): Decision {
  const legacy = policy.form === "legacy";
  const warnings = legacy ? legacyWarnings(pod) : requestWarnings(pod);
  for (const { name, answer: answerOf } of RULES) {
    const answer = answerOf(pod, policy);
    if (answer === undefined) continue;
    return { ...answer, warnings: name === "policy" ? [...warnings, ...selectorWarnings(pod, policy)] : warnings };
  }
  return { ...byPolicy(policy), warnings };
}

/** Warns if a pod is injected only because the user named its manifest: the webhook would skip it. */
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

/** The value of the label `sidecar.istio.io/inject`, or of the annotation if the label is missing. */
function requestOf(pod: Pod): Request | undefined {
  const label = labelsOf(pod)[INJECT];
  if (typeof label === "string") return { kind: "label", value: label };
  const value = annotationsOf(pod)[INJECT];
  return typeof value === "string" ? { kind: "annotation", value } : undefined;
}

function request(pod: Pod): Answer | undefined {
  const requested = requestOf(pod);
  if (requested === undefined || (requested.value !== "true" && requested.value !== "false")) return undefined;
  const field = `metadata.${requested.kind}s["${INJECT}"]`;
  const message = `${requested.kind} "${INJECT}" is "${requested.value}"`;
  return { inject: requested.value === "true", reason: `${requested.kind}-inject-${requested.value}`, field, message };
}

function requestWarnings(pod: Pod): readonly string[] {
  const requested = requestOf(pod);
  if (requested === undefined || ["true", "false", ""].includes(requested.value)) return [];
  return [
    `The ${requested.kind} "${INJECT}" has the value "${requested.value}", which is neither "true" nor "false"; the value is ignored`,
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

/** Index of the first non-empty selector that matches, or -1. An empty selector would match every pod. */
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
