/**
 * Finds out why no webhook is called for a pod, with advice. The causes are a table, and the first match counts.
 */
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

/** The order is Istio's ("Installing the Sidecar"): the pod's opt-out, the namespace's labels, the pod's labels. */
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
  const found = CAUSES.find(({ applies }) => applies(seen));
  return found?.cause(seen) ??
    { reason: "not-called", field: "", message: "no webhook's selectors match the pod", advice: [] };
}

interface CauseRow {
  readonly applies: (seen: Seen) => boolean;
  readonly cause: (seen: Seen) => Cause;
}

const CAUSES: readonly CauseRow[] = [
  { applies: ({ webhooks }) => webhooks.length === 0, cause: noWebhook },
  { applies: ({ asked }) => asked === "false", cause: optedOut },
  { applies: ({ served }) => served.length === 0, cause: namespaceExcluded },
  { applies: ({ injection }) => injection === "disabled", cause: disabled },
  { applies: ({ injection }) => injection !== undefined && !INJECTION_VALUES.includes(injection), cause: misspelt },
  {
    applies: ({ injection, served }) =>
      injection === "enabled" && !served.some((labels) => labels[LABEL.injection] === "enabled"),
    cause: (seen) => notServed(seen, LABEL.injection, "enabled"),
  },
  {
    applies: ({ revision }) => revision !== undefined,
    cause: (seen) => notServed(seen, LABEL.revision, seen.revision),
  },
  { applies: ({ podRevision }) => podRevision !== undefined, cause: podNotServed },
  { applies: ({ injection, revision }) => injection === undefined && revision === undefined, cause: notLabelled },
];

function noWebhook(): Cause {
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

function optedOut({ target }: Seen): Cause {
  return {
    reason: "label-inject-false",
    field: `metadata.labels["${LABEL.inject}"]`,
    message: `label "${LABEL.inject}" is "false"`,
    advice: [changePod(target, { of: "labels", key: LABEL.inject, value: null })],
  };
}

const OTHER = "NAME";

function namespaceExcluded({ target, webhooks }: Seen): Cause {
  return {
    reason: "namespace-excluded",
    field: "namespace.metadata.name",
    message: `the webhooks exclude the namespace "${target.namespace}", regardless of its labels`,
    advice: servedLabels(webhooks, OTHER).length === 0
      ? [look("see how to restore the webhooks' selectors", shows("mesh", "check", "namespaces"))]
      : [byHand("run the workload in a namespace that the webhooks serve", "workload")],
  };
}

function disabled(seen: Seen): Cause {
  const { target } = seen;
  return {
    reason: "namespace-disabled",
    field: INJECTION_FIELD,
    message: `the namespace "${target.namespace}" has the label ${LABEL.injection}=disabled`,
    advice: joining(seen, { workload: "inject this workload only", namespace: "inject the namespace" }),
  };
}

const INJECTION_FIELD = `namespace.metadata.labels["${LABEL.injection}"]`;

function misspelt(seen: Seen): Cause {
  const { target, injection } = seen;
  return {
    reason: "namespace-label-misspelt",
    field: INJECTION_FIELD,
    message: `the namespace "${target.namespace}" has the label ${LABEL.injection}="${injection}", ` +
      'which is neither "enabled" nor "disabled": no webhook is called',
    advice: joining(seen, { workload: "inject this workload only", namespace: "correct the label" }),
  };
}

function notServed(seen: Seen, key: string, value: string | undefined): Cause {
  const { target, served } = seen;
  return {
    reason: "revision-not-served",
    field: `namespace.metadata.labels["${key}"]`,
    message: `no webhook serves ${key}=${value} of the namespace "${target.namespace}"; served: ${labelsText(served)}`,
    advice: joining(seen, { workload: "inject this workload only", namespace: "use a revision that a webhook serves" }),
  };
}

function podNotServed({ target, podRevision, served }: Seen): Cause {
  const [first] = served.flatMap((labels) => labels[LABEL.revision] ?? []);
  return {
    reason: "revision-not-served",
    field: `metadata.labels["${LABEL.revision}"]`,
    message: `no webhook serves the pod's label ${LABEL.revision}=${podRevision}; served: ${labelsText(served)}`,
    advice: [changePod(target, { of: "labels", key: LABEL.revision, value: first ?? null })],
  };
}

function notLabelled(seen: Seen): Cause {
  const { target, served, namespace } = seen;
  const near = nearMisses(namespace).map(({ message }) => `; ${message}`);
  return {
    reason: "namespace-not-labelled",
    field: "namespace.metadata.labels",
    message: `the namespace "${target.namespace}" has no injection label: ${labelsText(served)}${near.join("")}`,
    advice: joining(seen, { workload: "inject this workload only", namespace: "inject the namespace" }),
  };
}

interface Changes {
  readonly workload: string;
  readonly namespace: string;
}

/** Adds a workload to the mesh with its own label if that is enough, else with labels of its namespace. */
function joining(seen: Seen, changes: Changes): readonly Advice[] {
  const { target, namespace, webhooks, pods, served: [label = {}] } = seen;
  const enrolment = { name: target.namespace, labels: namespace, webhooks, pods };
  const whole = relabelled(enrolment, changes.namespace, { ...AWAY, ...label });
  const alone = aloneIn(seen, changes.workload, enrolment);
  if (alone === undefined) return [whole];
  return whole.risk === "none" ? [whole, alone] : [alone, whole];
}

const AWAY: LabelChange = { [LABEL.injection]: undefined, [LABEL.revision]: undefined };

/** Injects only this workload; `undefined` if no label of its pods makes the API server call a webhook. */
function aloneIn(seen: Seen, change: string, enrolment: Enrolment): Advice | undefined {
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
    change: `${change}: ${own.change}`,
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
