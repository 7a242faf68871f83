/** Finds out why no webhook is called for a pod, with advice. */
import { LABEL } from "../../istio/annotations/labels.ts";
import { newMap, type ValueMap } from "../../base/value.ts";
import { anySends, type InjectorWebhook, namespaceLabels } from "../inventory/injector_webhooks.ts";
import type { Pod } from "../../kube/client/mod.ts";
import { type Advice, byHand, look } from "../advice/advice.ts";
import { type LabelChange, shows } from "../advice/commands.ts";
import { changedLabels, type Enrolment, relabelled } from "../advice/enrolment.ts";
import { changePod } from "./workload_advice.ts";
import {
  INJECTION_VALUES,
  labelsText,
  labelText,
  type NamespaceLabel,
  nearMisses,
  servedLabels,
} from "../inventory/served_labels.ts";
import type { Target } from "./target.ts";

/** A pod for which no webhook is called. */
export interface Unreached {
  readonly target: Target;
  readonly webhooks: readonly InjectorWebhook[];
  readonly namespace: ValueMap;
  readonly pod: ValueMap;
  /** Live pods; `undefined` if the pods are unknown. */
  readonly pods: readonly Pod[] | undefined;
}

export interface Cause {
  readonly reason: string;
  readonly field: string;
  readonly message: string;
  readonly advice: readonly Advice[];
}

interface Seen extends Unreached {
  readonly injection: string | undefined;
  readonly revision: string | undefined;
  readonly asked: string | undefined;
  readonly podRevision: string | undefined;
  readonly served: readonly NamespaceLabel[];
}

/** Returns the first cause in Istio's order: the pod's opt-out, the namespace's labels, the pod's labels. */
export function whyNotCalled(unreached: Unreached): Cause {
  const { namespace, pod, webhooks, target } = unreached;
  const seen: Seen = {
    ...unreached,
    injection: labelText(namespace, LABEL.injection),
    revision: labelText(namespace, LABEL.revision),
    asked: labelText(pod, LABEL.inject),
    podRevision: labelText(pod, LABEL.revision),
    served: servedLabels(webhooks, target.namespace),
  };
  return CAUSES.map((cause) => cause(seen)).find((cause) => cause !== undefined) ??
    { reason: "not-called", field: "", message: "no webhook's selectors match the pod", advice: [] };
}

/** Causes in order of precedence (Istio, "Installing the Sidecar"). Each returns `undefined` if it does not apply. */
const CAUSES: readonly ((seen: Seen) => Cause | undefined)[] = [
  noWebhook,
  optedOut,
  namespaceExcluded,
  disabled,
  misspelt,
  notServed,
  podNotServed,
  notLabelled,
];

function noWebhook({ webhooks }: Seen): Cause | undefined {
  if (webhooks.length > 0) return undefined;
  return {
    reason: "no-webhook",
    field: "",
    message: "the cluster has no injection webhook",
    advice: [
      byHand("install the control plane again", "mesh"),
      look(
        "see whether the remaining objects of the control plane name its installer",
        shows("mesh", "check", "webhook"),
      ),
      look("see how to run a webhook with its own revision", shows("mesh", "webhook", "manifests", "--help")),
    ],
  };
}

function optedOut({ asked, target }: Seen): Cause | undefined {
  if (asked !== "false") return undefined;
  return {
    reason: "label-inject-false",
    field: `metadata.labels["${LABEL.inject}"]`,
    message: `label "${LABEL.inject}" is "false"`,
    advice: [changePod(target, { of: "labels", key: LABEL.inject, value: null })],
  };
}

const OTHER = "NAME";

function namespaceExcluded({ served, target, webhooks }: Seen): Cause | undefined {
  if (served.length > 0) return undefined;
  return {
    reason: "namespace-excluded",
    field: "namespace.metadata.name",
    message: `the webhooks exclude the namespace "${target.namespace}", regardless of its labels`,
    advice: servedLabels(webhooks, OTHER).length === 0
      ? [look("see how to restore the webhooks' selectors", shows("mesh", "check", "namespaces"))]
      : [byHand("run the workload in a namespace that the webhooks serve", "workload")],
  };
}

function disabled(seen: Seen): Cause | undefined {
  if (seen.injection !== "disabled") return undefined;
  return {
    reason: "namespace-disabled",
    field: INJECTION_FIELD,
    message: `the namespace "${seen.target.namespace}" has the label ${LABEL.injection}=disabled`,
    advice: joining(seen, "inject the namespace"),
  };
}

const INJECTION_FIELD = `namespace.metadata.labels["${LABEL.injection}"]`;

function misspelt(seen: Seen): Cause | undefined {
  const { target, injection } = seen;
  if (injection === undefined || INJECTION_VALUES.includes(injection)) return undefined;
  return {
    reason: "namespace-label-misspelt",
    field: INJECTION_FIELD,
    message: `the namespace "${target.namespace}" has the label ${LABEL.injection}="${injection}", ` +
      'which is neither "enabled" nor "disabled": no webhook is called',
    advice: joining(seen, "correct the label"),
  };
}

function notServed(seen: Seen): Cause | undefined {
  const { target, served, injection, revision } = seen;
  const isEnabled = injection === "enabled" && !served.some((labels) => labels[LABEL.injection] === "enabled");
  const [key, value] = isEnabled ? [LABEL.injection, injection] : [LABEL.revision, revision];
  if (value === undefined) return undefined;
  return {
    reason: "revision-not-served",
    field: `namespace.metadata.labels["${key}"]`,
    message: `no webhook serves ${key}=${value} of the namespace "${target.namespace}"; served: ${labelsText(served)}`,
    advice: joining(seen, "use a revision that a webhook serves"),
  };
}

function podNotServed({ target, podRevision, served }: Seen): Cause | undefined {
  if (podRevision === undefined) return undefined;
  const [first] = served.flatMap((labels) => labels[LABEL.revision] ?? []);
  return {
    reason: "revision-not-served",
    field: `metadata.labels["${LABEL.revision}"]`,
    message: `no webhook serves the pod's label ${LABEL.revision}=${podRevision}; served: ${labelsText(served)}`,
    advice: [changePod(target, { of: "labels", key: LABEL.revision, value: first ?? null })],
  };
}

function notLabelled(seen: Seen): Cause | undefined {
  const { target, served, namespace, injection } = seen;
  if (injection !== undefined) return undefined;
  const near = nearMisses(namespace).map(({ message }) => `; ${message}`);
  return {
    reason: "namespace-not-labelled",
    field: "namespace.metadata.labels",
    message: `the namespace "${target.namespace}" has no injection label: ${labelsText(served)}${near.join("")}`,
    advice: joining(seen, "inject the namespace"),
  };
}

/** Adds a workload to the mesh with its own label if that is enough, else with labels of its namespace. */
function joining(seen: Seen, change: string): readonly Advice[] {
  const { target, namespace, webhooks, pods, served: [label = {}] } = seen;
  const enrolment = { name: target.namespace, labels: namespace, webhooks, pods };
  const whole = relabelled(enrolment, change, { ...AWAY, ...label });
  const alone = aloneIn(seen, enrolment);
  if (alone === undefined) return [whole];
  return whole.risk === "none" ? [whole, alone] : [alone, whole];
}

const AWAY: LabelChange = { [LABEL.injection]: undefined, [LABEL.revision]: undefined };

/** Injects only this workload; `undefined` if no label of its pods makes the API server call a webhook. */
function aloneIn(seen: Seen, enrolment: Enrolment): Advice | undefined {
  const { target, namespace } = seen;
  const bare = changedLabels(namespace, AWAY);
  const asked = askedBy(seen, namespace);
  const askedBare = asked ?? askedBy(seen, bare);
  if (askedBare === undefined) return undefined;
  const away = asked === undefined ? [relabelled(enrolment, "remove the label of the namespace", AWAY)] : [];
  if (askedBare === "has it") return away[0];
  const own = changePod(target, { of: "labels", ...askedBare });
  if (target.file !== undefined || own.reach === "nothing") return own;
  return {
    ...own,
    change: `inject this workload only: ${own.change}`,
    steps: [...away, own].flatMap(({ steps }) => steps),
    risk: away[0]?.risk ?? "none",
    namespace: target.namespace,
  };
}

/** Returns the pod label that makes the API server call a webhook in a namespace with these labels. */
function askedBy(
  { target, pod, webhooks, served }: Seen,
  namespace: ValueMap,
): { readonly key: string; readonly value: string } | "has it" | undefined {
  const isCalled = (labels: ValueMap) => anySends(webhooks, namespaceLabels(target.namespace, namespace), labels);
  if (isCalled(pod)) return "has it";
  const revisions = served.flatMap((each) => each[LABEL.revision] ?? []);
  const all = [{ key: LABEL.inject, value: "true" }, ...revisions.map((value) => ({ key: LABEL.revision, value }))];
  return all.find(({ key, value }) => isCalled(Object.assign(newMap(), pod, { [key]: value })));
}
