/** Finds out what happens to a new pod: evaluates every rule of the API server and the webhooks, in order. */
import { errorLine, MeshError } from "../../base/errors.ts";
import { LABEL } from "../../istio/annotations/labels.ts";
import { sameValue } from "../../base/values/mod.ts";
import { textAt, type ValueMap } from "../../base/value.ts";
import {
  decide,
  type Decision,
  type DecisionPolicy,
  type DecisionStep,
  decisionSteps,
  injectInTurn,
  InjectionError,
  type Injector,
  labelsOf,
  metadataOf,
  type NativeNodes,
  type Owner,
  type Pod,
} from "../../inject/mod.ts";
import { isKnown, type Observed, reason as whyUnknown, type Unknown } from "../inventory/observed.ts";
import type { InjectorWebhook } from "../inventory/injector_webhooks.ts";
import type { ExplanationLine, RuleLine } from "./explanation_schema.ts";
import { injectorForPod, nodesDoubt } from "./injector_for_pod.ts";
import { type Match, matchOf } from "./match.ts";
import { askConditions, type ConditionAnswer, type Holding } from "./match_conditions.ts";

/** Value of `by` if there is no cluster. */
export const ASSUMED = "assumed";

/** Value of `by` if a dry run shows the sidecar and the webhooks cannot be read. */
export const DRY_RUN = "dry-run";

/** The reason if no webhook injects a new pod, but its manifest contains the proxy. The verdict is then `not-injected`. */
export const IN_MANIFEST = "proxy-in-manifest";

/** A new pod, and the cluster data that decides whether the pod is injected. */
export interface Question {
  /** The new pod, which must contain `metadata.namespace`. */
  readonly pod: Pod;
  readonly owner: Owner;
  /** Whether a controller creates the pod. */
  readonly isMade: boolean;
  readonly namespaceLabels: ValueMap;
  /** The webhooks in call order. Without a cluster, `assumed` means that one webhook is called. */
  readonly webhooks: Observed<readonly InjectorWebhook[]> | typeof ASSUMED;
  /** If the labels of the namespace are unknown, so are the webhooks. */
  readonly isNamespaceKnown: boolean;
  readonly injectorFor: (webhook: InjectorWebhook | undefined) => Observed<Injector>;
  /** The nodes that may decide whether sidecars are native; `undefined` if it does not matter, or without a cluster. */
  readonly nodes: Observed<NativeNodes> | undefined;
}

/** The possible results. For an injected pod, `by` is the first webhook that injects it, or `assumed`. */
export type Ruling =
  | { readonly verdict: "injected"; readonly by: string }
  | { readonly verdict: Exclude<ExplanationLine["verdict"], "injected">; readonly by: null };

export type Verdict = Ruling & {
  /** A stable id of the cause: from the decisions and errors of `inject`, or from this file. */
  readonly reason: string;
  readonly field: string;
  readonly message: string;
  readonly rules: readonly RuleLine[];
  /** All webhooks that would inject the pod. */
  readonly injecting: readonly string[];
  /** The injections, in order. A reinvoked webhook may appear twice. */
  readonly injections: readonly Injection[];
  /** Whether the outcome of every called webhook is known. */
  readonly isSure: boolean;
  /** The pod with its proxy, after injection or as in its manifest; `undefined` if it has none. */
  readonly result: Pod | undefined;
};

export interface Injection {
  readonly webhook: InjectorWebhook;
  readonly injector: Injector;
}

/** Evaluates all rules. As in the API server, each webhook gets the pod that the previous webhook returned. */
export function verdictOf(question: Question): Verdict {
  const { webhooks } = question;
  const rules: RuleLine[] = [];
  const asked: Asked = { ...question, rules };
  if (webhooks === ASSUMED) return assumed(asked);
  if (!isKnown(webhooks)) return withoutWebhooks(asked, webhooks);
  const first = roundOf(asked, webhooks.value);
  const again = webhooks.value.filter((webhook) => first.again.has(webhook));
  const second = roundOf({ ...asked, pod: first.pod }, again);
  const outcomes = [...first.outcomes, ...second.outcomes];
  return verdict(decisive(outcomes), rules, outcomes, second.pod);
}

/** The question, and the rules that were evaluated so far. */
interface Asked extends Question {
  readonly rules: RuleLine[];
}

interface Round {
  readonly outcomes: readonly Outcome[];
  readonly pod: Pod;
  readonly again: ReadonlySet<InjectorWebhook>;
}

/** Asks the webhooks in order. Asks a webhook with reinvocationPolicy `IfNeeded` again after changes by later webhooks. */
function roundOf(asked: Asked, webhooks: readonly InjectorWebhook[]): Round {
  const outcomes: Outcome[] = [];
  const [called, again] = [new Set<InjectorWebhook>(), new Set<InjectorWebhook>()];
  let { pod } = asked;
  for (const webhook of webhooks) {
    const match = matchOf(webhook, asked.namespaceLabels, labelsOf(pod));
    asked.rules.push(callLine(webhook, match));
    if (!match.isCalled) continue;
    const outcome = askOnCondition(webhook, { ...asked, pod });
    outcomes.push(outcome);
    if (outcome.verdict === "refused") return { outcomes, pod, again: new Set() };
    const next = outcome.result ?? pod;
    if (!sameValue(next, pod)) called.forEach((each) => again.add(each));
    pod = next;
    if (webhook.isReinvoked) called.add(webhook);
  }
  return { outcomes, pod, again };
}

/** Verdicts in order of precedence. An injection counts even if the result of another webhook is unknown. */
const DECISIVE = ["refused", "injected", "cannot-tell"] as const;

function decisive(outcomes: readonly Outcome[]): Outcome {
  const found = DECISIVE.map((each) => outcomes.find(({ verdict }) => verdict === each)).find(Boolean);
  return found ?? outcomes.at(-1) ?? NOT_CALLED;
}

export function webhookName({ configuration, name }: InjectorWebhook): string {
  return `${configuration}/${name}`;
}

type Outcome = Ruling & {
  readonly reason: string;
  readonly field: string;
  readonly message: string;
  readonly result?: Pod;
  readonly injection?: Injection;
};

const NOT_INJECTED = { verdict: "not-injected", by: null } as const;
const REFUSED = { verdict: "refused", by: null } as const;
const UNKNOWN = { verdict: "cannot-tell", by: null } as const;

const NOT_CALLED: Outcome = {
  ...NOT_INJECTED,
  reason: "not-called",
  field: "",
  message: "no injection webhook is called for this pod",
};

function verdict(
  outcome: Outcome,
  rules: readonly RuleLine[],
  outcomes: readonly Outcome[],
  result: Pod | undefined,
): Verdict {
  return {
    ...outcome,
    rules,
    injecting: [...new Set(outcomes.flatMap(({ by }) => by ?? []))],
    injections: outcomes.flatMap(({ injection }) => injection ?? []),
    isSure: outcomes.every(({ verdict }) => verdict !== "cannot-tell"),
    result: outcome.verdict === "injected" ? result : undefined,
  };
}

const ANY_WEBHOOK = { rule: "webhook", field: "namespace.metadata.labels", value: null } as const;

function assumed(asked: Asked): Verdict {
  const message = "the called webhooks are unknown; assuming that one is called";
  asked.rules.push({ ...ANY_WEBHOOK, effect: "unknown", message });
  const outcome = ask(undefined, asked);
  return verdict(outcome, asked.rules, [], outcome.result);
}

/** Returns the verdict if the webhooks are unknown. Some pods and namespaces are never injected by any webhook. */
function withoutWebhooks(asked: Asked, unknown: Unknown): Verdict {
  const why = whyUnknown(unknown);
  const hint = "forbidden" in unknown ? '; "kubectl mesh check --rbac" prints the needed rights' : "";
  asked.rules.push({ ...ANY_WEBHOOK, effect: "unknown", message: why });
  const outcome = certainRefusal(asked) ?? namespaceOptOut(asked) ?? {
    ...UNKNOWN,
    ...asked.isNamespaceKnown ? { reason: "webhooks-unknown" } : { reason: "namespace-unknown" },
    field: "",
    message: `cannot tell which webhooks are called: ${why}${hint}`,
  };
  return verdict(outcome, asked.rules, [outcome], undefined);
}

/** Returns the outcome of `istio-injection=disabled`, which no webhook matches (Istio, "Installing the Sidecar"). */
function namespaceOptOut({ namespaceLabels, rules }: Asked): Outcome | undefined {
  if (namespaceLabels[LABEL.injection] !== "disabled") return undefined;
  const field = `namespace.metadata.labels["${LABEL.injection}"]`;
  rules.push({ rule: "namespace", field, value: "disabled", effect: "does-not-inject", message: "" });
  const message = `the namespace has the label ${LABEL.injection}=disabled`;
  return { ...NOT_INJECTED, reason: "namespace-disabled", field, message };
}

/** Evaluates the match conditions. If all are true, or one is unknown, also evaluates the webhook's decision. */
function askOnCondition(webhook: InjectorWebhook, asked: Asked): Outcome {
  const { pod, isMade } = asked;
  const namespace = textAt(metadataOf(pod), "namespace");
  const answers = askConditions(webhook.matchConditions, { pod, namespace, isMade });
  asked.rules.push(...answers.map((answer) => conditionLine(webhook, answer)));
  const decided = decidingCondition(answers);
  if (decided === undefined) return ask(webhook, asked);
  const { condition, why } = decided;
  const field = `matchConditions["${condition.name}"]`;
  const named = `the condition "${condition.name}" of ${webhookName(webhook)}`;
  if (decided.holding === "does-not-hold") {
    const message = `${named} is false: ${condition.expression}`;
    return { ...NOT_INJECTED, reason: "match-condition", field, message };
  }
  if (decided.holding === "fails") {
    const ruling = webhook.failurePolicy === "Fail" ? REFUSED : NOT_INJECTED;
    const message = `${named} fails, and failurePolicy is ${webhook.failurePolicy}: ${why}`;
    return { ...ruling, reason: "match-condition-fails", field, message };
  }
  const outcome = ask(webhook, asked);
  if (outcome.verdict === "not-injected") return outcome;
  const message = `cannot tell whether the webhook is called: ${named}: ${why}: ${condition.expression}`;
  return { ...UNKNOWN, reason: "match-condition-unknown", field, message };
}

/** Returns the deciding condition. One false condition prevents the call (Kubernetes, "matchConditions"). */
function decidingCondition(answers: readonly ConditionAnswer[]): ConditionAnswer | undefined {
  const order = ["does-not-hold", "unknown", "fails"];
  return order.map((holding) => answers.find((answer) => answer.holding === holding)).find(Boolean);
}

const CONDITION_EFFECTS: Readonly<Record<Holding, RuleLine["effect"]>> = {
  holds: "called",
  "does-not-hold": "not-called",
  fails: "refuses",
  unknown: "unknown",
};

function conditionLine(webhook: InjectorWebhook, { condition, holding, why }: ConditionAnswer): RuleLine {
  const isHidden = holding === "fails" && webhook.failurePolicy === "Ignore";
  return {
    rule: webhookName(webhook),
    field: `matchConditions["${condition.name}"]`,
    value: condition.expression,
    effect: isHidden ? "not-called" : CONDITION_EFFECTS[holding],
    message: why,
  };
}

function callLine(webhook: InjectorWebhook, { isCalled, decided }: Match): RuleLine {
  return {
    rule: webhookName(webhook),
    field: decided?.field ?? "",
    value: decided?.value ?? null,
    effect: isCalled ? "called" : "not-called",
    message: decided === undefined ? "" : `${isCalled ? "matches" : "requires"} ${decided.wanted}`,
  };
}

/** Returns the outcome of a called webhook, and adds its rules to the list. */
function ask(webhook: InjectorWebhook | undefined, asked: Asked): Outcome {
  const injector = asked.injectorFor(webhook);
  if (!isKnown(injector)) return unknownConfiguration(asked, whyUnknown(injector));
  const policy: DecisionPolicy = { ...injector.value.config, byHand: false };
  asked.rules.push(...decisionSteps(asked.pod, policy).map(decisionLine));
  const decision = decide(asked.pod, policy);
  return decision.inject ? injected(decision, webhook, asked, injector.value) : notInjected(decision);
}

function notInjected({ reason, field, message }: Decision): Outcome {
  return { ...NOT_INJECTED, reason, field, message };
}

/** Injects the pod. If the templates fail, the webhook denies the pod (`allowed: false`). */
function injected(
  { reason, field, message }: Decision,
  webhook: InjectorWebhook | undefined,
  { pod, owner, rules, nodes }: Asked,
  given: Injector,
): Outcome {
  const doubt = nodesDoubt(given, pod, nodes);
  if (doubt !== undefined) {
    rules.push({ rule: "nodes", field: "", value: null, effect: "unknown", message: doubt });
    const message = `the nodes decide whether the sidecar is native: ${doubt}; --native-sidecars decides without them`;
    return { ...UNKNOWN, reason: "native-unknown", field: "", message };
  }
  const injector = injectorForPod(given, pod, webhook, nodes);
  const line = { rule: "templates", field: "templates" };
  try {
    const { pod: result, templates } = injectInTurn(pod, owner, [injector]);
    rules.push({ ...line, value: templates.join(",") || null, effect: "injects", message: "" });
    const outcome = { verdict: "injected", reason, field, message, result } as const;
    if (webhook === undefined) return { ...outcome, by: ASSUMED };
    return { ...outcome, by: webhookName(webhook), injection: { webhook, injector } };
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    const field = error.place?.field ?? "";
    const message = errorLine({ message: error.message, place: {}, hint: error.hint });
    rules.push({ ...line, field: field || line.field, value: null, effect: "refuses", message });
    const reason = error instanceof InjectionError ? error.reason : "failed";
    return { ...REFUSED, reason, field, message };
  }
}

/** A decision policy that injects every pod, unless the pod itself or its namespace prevents injection. */
const CERTAIN: DecisionPolicy = {
  policy: "enabled",
  neverInjectSelector: [],
  alwaysInjectSelector: [],
  byHand: false,
};

/** Returns the outcome for a pod that is never injected because of the pod itself or its namespace. */
function certainRefusal({ pod, rules }: Asked): Outcome | undefined {
  const decision = decide(pod, CERTAIN);
  if (decision.inject) return undefined;
  rules.push(...decisionSteps(pod, CERTAIN).map(decisionLine).filter(({ effect }) => effect !== "not-asked"));
  return notInjected(decision);
}

function unknownConfiguration(asked: Asked, why: string): Outcome {
  asked.rules.push({
    rule: "configuration",
    field: "",
    value: null,
    effect: "unknown",
    message: why,
  });
  return certainRefusal(asked) ?? {
    ...UNKNOWN,
    reason: "configuration-unknown",
    field: "",
    message: `the webhook is called, but its decision is unknown: ${why}`,
  };
}

function decisionLine({ rule, field, value, answer, isLate }: DecisionStep): RuleLine {
  const line = { rule, field, value: value ?? null };
  if (isLate) return { ...line, effect: "not-asked", message: "" };
  if (answer === undefined) return { ...line, effect: "no-answer", message: "" };
  return { ...line, effect: answer.inject ? "injects" : "does-not-inject", message: answer.message };
}
