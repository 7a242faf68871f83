/** Why no webhook is called for a pod: the first matching cause of a table, and the command that removes it. */
import { LABEL } from "../../core/mesh/annotations/labels.ts";
import type { ValueMap } from "../../core/value.ts";
import type { InjectorWebhook } from "../inventory/injector_webhooks.ts";
import { changePod, labelNamespace } from "./commands.ts";
import {
  INJECTION_VALUES,
  labelsText,
  labelText,
  type NamespaceLabel,
  servedLabels,
} from "../inventory/served_labels.ts";
import type { Target } from "./target.ts";

/** A pod for which no webhook is called. */
export interface Unreached {
  readonly target: Target;
  readonly webhooks: readonly InjectorWebhook[];
  readonly namespace: ValueMap;
  readonly pod: ValueMap;
}

/** A cause. */
export interface Cause {
  readonly reason: string;
  readonly field: string;
  readonly message: string;
  readonly fix: readonly string[];
}

interface Seen extends Unreached {
  readonly injection: string | undefined;
  readonly revision: string | undefined;
  readonly asked: string | undefined;
  readonly podRevision: string | undefined;
  readonly served: readonly NamespaceLabel[];
}

/**
 * The cause. The order follows Istio, "Installing the Sidecar": the pod's opt-out first, then the namespace, then the
 * pod.
 */
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
  return found?.tell(seen) ??
    { reason: "not-called", field: "", message: "no webhook's selectors match the pod", fix: [] };
}

interface CauseRow {
  readonly applies: (seen: Seen) => boolean;
  readonly tell: (seen: Seen) => Cause;
}

const CAUSES: readonly CauseRow[] = [
  { applies: ({ webhooks }) => webhooks.length === 0, tell: noWebhook },
  { applies: ({ asked }) => asked === "false", tell: optedOut },
  { applies: ({ served }) => served.length === 0, tell: namespaceExcluded },
  { applies: ({ injection }) => injection === "disabled", tell: disabled },
  { applies: ({ injection }) => injection !== undefined && !INJECTION_VALUES.includes(injection), tell: misspelt },
  {
    applies: ({ injection, served }) => injection === "enabled" && !serves(served, LABEL.injection, "enabled"),
    tell: (seen) => notServed(seen, LABEL.injection, "enabled"),
  },
  { applies: ({ revision }) => revision !== undefined, tell: (seen) => notServed(seen, LABEL.revision, seen.revision) },
  { applies: ({ podRevision }) => podRevision !== undefined, tell: podNotServed },
  { applies: ({ injection, revision }) => injection === undefined && revision === undefined, tell: notLabelled },
];

function serves(served: readonly NamespaceLabel[], key: string, value: string): boolean {
  return served.some((labels) => labels[key] === value);
}

function noWebhook(): Cause {
  return {
    reason: "no-webhook",
    field: "",
    message: "the cluster has no injection webhook",
    fix: ["kubectl mesh webhook manifests --take-over | kubectl apply -f -"],
  };
}

function optedOut({ target }: Seen): Cause {
  return {
    reason: "label-inject-false",
    field: `metadata.labels["${LABEL.inject}"]`,
    message: `label "${LABEL.inject}" is "false"`,
    fix: [changePod(target, { of: "labels", key: LABEL.inject, value: null })],
  };
}

function namespaceExcluded({ target }: Seen): Cause {
  return {
    reason: "namespace-excluded",
    field: "namespace.metadata.name",
    message: `the webhooks exclude the namespace "${target.namespace}", whatever its labels are`,
    fix: [],
  };
}

function disabled({ target, revision, served }: Seen): Cause {
  const [label = {}] = served;
  const labels = revision === undefined || serves(served, LABEL.injection, "enabled")
    ? { [LABEL.injection]: undefined, [LABEL.revision]: undefined, ...label }
    : { [LABEL.injection]: undefined };
  return {
    reason: "namespace-disabled",
    field: INJECTION_FIELD,
    message: `the namespace "${target.namespace}" has the label ${LABEL.injection}=disabled`,
    fix: [labelNamespace(target.namespace, withoutAbsent(labels, { revision }), { overwrite: true })],
  };
}

const INJECTION_FIELD = `namespace.metadata.labels["${LABEL.injection}"]`;

function misspelt({ target, injection, revision, served }: Seen): Cause {
  const [label = {}] = served;
  const labels = { [LABEL.injection]: undefined, [LABEL.revision]: undefined, ...label };
  return {
    reason: "namespace-label-misspelt",
    field: INJECTION_FIELD,
    message: `the namespace "${target.namespace}" has the label ${LABEL.injection}="${injection}", ` +
      'which is neither "enabled" nor "disabled": no webhook is called',
    fix: [labelNamespace(target.namespace, withoutAbsent(labels, { revision }), { overwrite: true })],
  };
}

/** Without removals of absent labels: kubectl would print a warning. */
function withoutAbsent(labels: Readonly<Record<string, string | undefined>>, { revision }: Pick<Seen, "revision">) {
  const { [LABEL.revision]: wanted, ...rest } = labels;
  return wanted === undefined && revision === undefined ? rest : labels;
}

function notServed({ target, served, injection, revision }: Seen, key: string, value: string | undefined): Cause {
  const [label = {}] = served;
  const away = { ...injection === undefined ? {} : { [LABEL.injection]: undefined } };
  const old = revision === undefined ? {} : { [LABEL.revision]: undefined };
  return {
    reason: "revision-not-served",
    field: `namespace.metadata.labels["${key}"]`,
    message: `no webhook serves ${key}=${value} of the namespace "${target.namespace}": served: ${labelsText(served)}`,
    fix: [labelNamespace(target.namespace, { ...away, ...old, ...label }, { overwrite: true })],
  };
}

function podNotServed({ target, podRevision, served }: Seen): Cause {
  const revisions = served.flatMap((labels) => labels[LABEL.revision] ?? []);
  const [first] = revisions;
  return {
    reason: "revision-not-served",
    field: `metadata.labels["${LABEL.revision}"]`,
    message: `no webhook serves the pod's label ${LABEL.revision}=${podRevision}: served: ${labelsText(served)}`,
    fix: [changePod(target, { of: "labels", key: LABEL.revision, value: first ?? null })],
  };
}

function notLabelled({ target, served }: Seen): Cause {
  const [label = {}] = served;
  return {
    reason: "namespace-not-labelled",
    field: "namespace.metadata.labels",
    message: `the namespace "${target.namespace}" has no injection label: ${labelsText(served)}`,
    fix: [labelNamespace(target.namespace, label)],
  };
}
