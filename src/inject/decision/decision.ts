/**
 * Decides whether a pod gets a sidecar. Rules run in order, and the first rule with an answer decides. As in Istio's
 * injectRequired, exclusions come first, then the pod's label and annotation, then the configuration. docs/inject.md
 * lists the reasons.
 *
 * For manifests that the user names on the command line, selectors are ignored, as in `istioctl kube-inject`, and a
 * warning is given if the webhook would skip the pod. For configurations of Istio 1.0 to 1.8, other rules read the
 * annotation, and the label has no effect.
 */
import { goJson } from "../../golang/go_json.ts";
import { isEmptySelector, selectorMatches } from "../../kube/mod.ts";
import { ANNOTATION } from "../../istio/mod.ts";
import { isList, textAt, type Value, type ValueMap } from "../../base/value.ts";
import {
  annotation,
  annotationsOf,
  containerNamed,
  containersOf,
  labelsOf,
  metadataOf,
  type Pod,
  PROXY,
  specOf,
} from "../pod/pod.ts";

export interface Decision {
  readonly inject: boolean;
  /** A stable ID. docs/inject.md lists the IDs. */
  readonly reason: string;
  /** The deciding field of the pod (`spec.hostNetwork`) or of the configuration (`neverInjectSelector[0]`). */
  readonly field: string;
  /** The reason in words. It is printed after `skipped: ` or `injected: `. */
  readonly message: string;
  readonly warnings: readonly string[];
}

type Answer = Omit<Decision, "warnings">;

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

interface Rule {
  readonly answer: (pod: Pod, policy: DecisionPolicy) => Answer | undefined;
  readonly reads: (pod: Pod, policy: DecisionPolicy) => readonly Reading[];
}

type Reading = readonly [rule: string, field: string, value: Value | undefined];

/** The rules in order. If none has an answer, the policy decides. */
const RULES: readonly Rule[] = [
  { answer: hostNetwork, reads: (pod) => [["host-network", "spec.hostNetwork", specOf(pod)["hostNetwork"]]] },
  {
    answer: alreadyInjected,
    reads: (_, { form, byHand }) =>
      form === "legacy" && byHand ? [["already-injected", "spec.containers", undefined]] : [],
  },
  {
    answer: ignoredNamespace,
    reads: (pod) => [["ignored-namespace", "metadata.namespace", textAt(metadataOf(pod), "namespace")]],
  },
  { answer: invalidPolicy, reads: (_, { policy }) => [["policy-known", "policy", policy]] },
  {
    answer: (pod, { form }) => form === "legacy" ? legacyRequest(pod) : request(pod),
    reads: (pod, { form }) => [
      ...form === "legacy" ? [] : [["label", `metadata.labels["${INJECT}"]`, labelsOf(pod)[INJECT]] as const],
      ["annotation", `metadata.annotations["${INJECT}"]`, annotation(pod, INJECT)],
    ],
  },
  {
    answer: neverSelector,
    reads: (_, { neverInjectSelector: list }) => [["never-inject-selector", "neverInjectSelector", [...list]]],
  },
  {
    answer: alwaysSelector,
    reads: (_, { alwaysInjectSelector: list }) => [["always-inject-selector", "alwaysInjectSelector", [...list]]],
  },
];

/** Decides whether a pod is injected. Warnings do not change the decision. */
export function decide(pod: Pod, policy: DecisionPolicy): Decision {
  const warnings = policy.form === "legacy" ? legacyWarnings(pod) : requestWarnings(pod);
  for (const rule of RULES) {
    const answer = rule.answer(pod, policy);
    if (answer !== undefined) return { ...answer, warnings };
  }
  return { ...byPolicy(policy), warnings: [...warnings, ...selectorWarnings(pod, policy)] };
}

/** One rule of a decision, with a field that the rule reads. */
export interface DecisionStep {
  readonly rule: string;
  readonly field: string;
  /** `undefined` if the field is missing. */
  readonly value: string | undefined;
  /** Set only on the deciding rule. */
  readonly answer?: Answer;
  /** Whether an earlier rule has already decided. */
  readonly isLate: boolean;
}

/** Returns a step for each field that the rules read, in the order of `decide`. The deciding step has the answer. */
export function decisionSteps(pod: Pod, policy: DecisionPolicy): readonly DecisionStep[] {
  const last: Rule = { answer: () => byPolicy(policy), reads: () => [["policy", "policy", policy.policy]] };
  let isLate = false;
  return [...RULES, last].flatMap((rule) => {
    const late = isLate;
    const answer = late ? undefined : rule.answer(pod, policy);
    isLate ||= answer !== undefined;
    return rule.reads(pod, policy).map(([rule, field, read]) => {
      const isDecisive = answer?.field === field || answer?.field.startsWith(`${field}[`);
      const step = { rule, field, value: valueText(read), isLate: late };
      return answer !== undefined && isDecisive ? { ...step, field: answer.field, answer } : step;
    });
  });
}

function valueText(value: Value | undefined): string | undefined {
  if (isList(value)) return value.length === 0 ? undefined : goJson(value, { escapeHtml: false });
  return value === undefined || value === null ? undefined : String(value);
}

function no(reason: string, field: string, message: string): Answer {
  return { inject: false, reason, field, message };
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

/** Values that mean true, case-insensitive (http://yaml.org/type/bool.html). All other values mean false; "" means unset. */
const YES = new Set(["y", "yes", "true", "on"]);

/** Decides by the annotation, as Istio 1.0 to 1.8 did. Istio 1.9 added the label of the same name. */
function legacyRequest(pod: Pod): Answer | undefined {
  const text = annotation(pod, INJECT) ?? "";
  if (text === "") return undefined;
  const inject = YES.has(text.toLowerCase());
  const field = `metadata.annotations["${INJECT}"]`;
  return { inject, reason: `annotation-inject-${inject}`, field, message: `annotation "${INJECT}" is "${text}"` };
}

/**
 * Skips a pod that already has a proxy next to other containers, as kube-inject of Istio 1.0 to 1.8 did. Applies only to
 * manifests that the user names, because the webhook of these releases injected such pods again.
 */
function alreadyInjected(pod: Pod, { form, byHand }: DecisionPolicy): Answer | undefined {
  const containers = containersOf(pod, "containers");
  if (form !== "legacy" || !byHand || containers.length < 2 || !containerNamed(containers, PROXY)) return undefined;
  return no("already-injected", "spec.containers", `the pod already has a container "${PROXY}"`);
}

/** Warns if the pod has the label `sidecar.istio.io/inject`, which Istio 1.0 to 1.8 do not read. */
function legacyWarnings(pod: Pod): readonly string[] {
  if (labelsOf(pod)[INJECT] === undefined) return [];
  return [
    `The label "${INJECT}" is ignored with a configuration of Istio 1.0 to 1.8; use the annotation with the same name`,
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
