/** What happens to a new pod: every rule of API server and webhook, in order of evaluation. */
import { errorLine, MeshError } from "../../core/errors.ts";
import { textAt, type ValueMap } from "../../core/value.ts";
import {
  decide,
  type Decision,
  type DecisionPolicy,
  type DecisionStep,
  decisionSteps,
  InjectionError,
  type Injector,
  injectPod,
  labelsOf,
  metadataOf,
  type Owner,
  type Pod,
} from "../../inject/mod.ts";
import { isKnown, type Observed, reason as whyUnknown } from "../inventory/observed.ts";
import type { InjectorWebhook } from "../inventory/injector_webhooks.ts";
import type { RuleLine } from "./explanation_schema.ts";
import { type Match, matchOf } from "./match.ts";
import { askConditions, type ConditionAnswer, type Holding } from "./match_conditions.ts";

/** Reasons of verdicts that assume a called, or injecting, webhook. */
export const UNKNOWN_CONDITION = "match-condition-unknown";
export const UNKNOWN_CONFIGURATION = "configuration-unknown";

/** A new pod, and the state of the cluster. */
export interface Question {
  /** With `metadata.namespace`. */
  readonly pod: Pod;
  readonly owner: Owner;
  /** A controller creates it. */
  readonly isMade: boolean;
  readonly namespaceLabels: ValueMap;
  /** In call order; `undefined` if unknown: then one called webhook is assumed. */
  readonly webhooks: readonly InjectorWebhook[] | undefined;
  readonly injectorFor: (webhook: InjectorWebhook | undefined) => Observed<Injector>;
}

/** The answer. */
export interface Verdict {
  readonly injected: boolean;
  /** The first webhook that injects. */
  readonly by: string | null;
  /**
   * A stable id: one of `inject`'s decision table and errors, or `not-called`, `match-condition`,
   * `match-condition-fails`, `match-condition-unknown`, `configuration-unknown`.
   */
  readonly reason: string;
  readonly field: string;
  readonly message: string;
  readonly rules: readonly RuleLine[];
  /** A webhook denies the pod: it is not created. */
  readonly isRefused: boolean;
  /** Every webhook that would inject. */
  readonly injecting: readonly string[];
  /** The injected pod. */
  readonly result: Pod | undefined;
}

/** Evaluates all rules. Each webhook gets the result of the previous one, as in the API server. */
export function verdictOf(question: Question): Verdict {
  const { webhooks } = question;
  if (webhooks === undefined) return unasked(question);
  const rules: RuleLine[] = [];
  const injecting: Outcome[] = [];
  let last: Outcome = NOT_CALLED;
  let pod = question.pod;
  for (const webhook of webhooks) {
    const match = matchOf(webhook, { namespace: question.namespaceLabels, pod: labelsOf(pod) });
    rules.push(callLine(webhook, match));
    if (!match.isCalled) continue;
    last = askOnCondition(webhook, { ...question, pod }, rules);
    if (last.isRefused) break;
    if (last.injected) injecting.push(last);
    pod = last.result ?? pod;
  }
  const first = last.isRefused ? last : injecting[0] ?? last;
  return verdict(first, { rules, injecting, result: last.isRefused ? undefined : pod });
}

/** `configuration/webhook`. */
function webhookName({ configuration, name }: InjectorWebhook): string {
  return `${configuration}/${name}`;
}

interface Outcome {
  readonly injected: boolean;
  readonly webhook: string | null;
  readonly reason: string;
  readonly field: string;
  readonly message: string;
  readonly isRefused: boolean;
  readonly result?: Pod;
}

const NOT_CALLED: Outcome = {
  injected: false,
  webhook: null,
  reason: "not-called",
  field: "",
  message: "no injection webhook is called for this pod",
  isRefused: false,
};

interface Gathered {
  readonly rules: readonly RuleLine[];
  readonly injecting: readonly Outcome[];
  readonly result: Pod | undefined;
}

function verdict({ injected, webhook, reason, field, message, isRefused }: Outcome, gathered: Gathered): Verdict {
  const { rules, injecting, result } = gathered;
  const names = injecting.flatMap(({ webhook: name }) => name ?? []);
  return {
    injected,
    by: injected ? webhook : null,
    reason,
    field,
    message,
    rules,
    isRefused,
    injecting: names,
    result: injected ? result : undefined,
  };
}

function unasked(question: Question): Verdict {
  const rules: RuleLine[] = [{
    rule: "webhook",
    field: "namespace.metadata.labels",
    value: null,
    effect: "unknown",
    message: "the called webhooks are unknown: one is assumed",
  }];
  const outcome = ask(undefined, question, rules);
  return verdict(outcome, { rules, injecting: [], result: outcome.result });
}

/**
 * The outcome of a webhook whose selectors match. Its conditions come first. If they are unknown, the webhook is
 * evaluated too.
 */
function askOnCondition(webhook: InjectorWebhook, question: Question, rules: RuleLine[]): Outcome {
  const { pod, isMade } = question;
  const name = webhookName(webhook);
  const namespace = textAt(metadataOf(pod), "namespace");
  const answers = askConditions(webhook.matchConditions, { pod, namespace, isMade });
  rules.push(...answers.map((answer) => conditionLine(webhook, answer)));
  const decided = decidingCondition(answers);
  if (decided === undefined) return ask(webhook, question, rules);
  const { condition, why } = decided;
  const field = `matchConditions["${condition.name}"]`;
  const told = `the condition "${condition.name}" of ${name}`;
  if (decided.holding === "does-not-hold") {
    return {
      ...NOT_CALLED,
      reason: "match-condition",
      field,
      message: `${told} does not hold: ${condition.expression}`,
    };
  }
  if (decided.holding === "fails") {
    const isRefused = webhook.failurePolicy === "Fail";
    const message = `${told} fails, and failurePolicy is ${webhook.failurePolicy}: ${why}`;
    return { ...NOT_CALLED, webhook: name, reason: "match-condition-fails", field, message, isRefused };
  }
  const outcome = ask(webhook, question, rules);
  if (!outcome.injected && !outcome.isRefused) return outcome;
  const message = `cannot tell whether the webhook is called: ${told}: ${why}: ${condition.expression}`;
  return { ...outcome, reason: UNKNOWN_CONDITION, field, message };
}

/** A false condition decides, whatever the others are (Kubernetes, "Matching requests: matchConditions"). */
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
    message: decided === undefined ? "" : `${isCalled ? "matches" : "it wants"} ${decided.wanted}`,
  };
}

/** The outcome of a called webhook; adds its rules. */
function ask(webhook: InjectorWebhook | undefined, question: Question, rules: RuleLine[]): Outcome {
  const name = webhook === undefined ? null : webhookName(webhook);
  const injector = question.injectorFor(webhook);
  if (!isKnown(injector)) return unknownConfiguration(name, question.pod, { why: whyUnknown(injector), rules });
  const policy: DecisionPolicy = { ...injector.value.config, byHand: false };
  rules.push(...decisionSteps(question.pod, policy).map(decisionLine));
  const decision = decide(question.pod, policy);
  if (!decision.inject) return outcomeOf(decision, name);
  return injected(decision, name, { question, injector: injector.value, rules });
}

function outcomeOf({ inject, reason, field, message }: Decision, webhook: string | null): Outcome {
  return { injected: inject, webhook, reason, field, message, isRefused: false };
}

interface Rendering {
  readonly question: Question;
  readonly injector: Injector;
  readonly rules: RuleLine[];
}

/** If the templates fail, the webhook denies the pod (`allowed: false`). */
function injected(decision: Decision, webhook: string | null, { question, injector, rules }: Rendering): Outcome {
  const line = { rule: "templates", field: "templates" };
  try {
    const { pod, templates } = injectPod(question.pod, question.owner, injector);
    rules.push({ ...line, value: templates.join(",") || null, effect: "injects", message: "" });
    return { ...outcomeOf(decision, webhook), result: pod };
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    const field = error.place?.field ?? "";
    const message = errorLine({ message: error.message, place: { field }, hint: error.hint });
    rules.push({ ...line, field: field || line.field, value: null, effect: "refuses", message });
    const reason = error instanceof InjectionError ? error.reason : "failed";
    return { injected: false, webhook, reason, field, message, isRefused: true };
  }
}

/** Istio's default policy, for guesses. */
const GUESS: DecisionPolicy = { policy: "enabled", neverInjectSelector: [], alwaysInjectSelector: [], byHand: false };

interface Guessing {
  readonly why: string;
  readonly rules: RuleLine[];
}

function unknownConfiguration(webhook: string | null, pod: Pod, { why, rules }: Guessing): Outcome {
  rules.push({ rule: "configuration", field: "", value: null, effect: "unknown", message: `cannot tell: ${why}` });
  const { inject, reason, field, message } = decide(pod, GUESS);
  if (!inject) return { injected: false, webhook, reason, field, message, isRefused: false };
  return {
    injected: true,
    webhook,
    reason: UNKNOWN_CONFIGURATION,
    field: "",
    message: `the webhook is called; its decision is unknown: ${why}`,
    isRefused: false,
  };
}

function decisionLine({ rule, field, value, answer, isLate }: DecisionStep): RuleLine {
  const line = { rule, field, value: value ?? null };
  if (isLate) return { ...line, effect: "not-asked", message: "" };
  if (answer === undefined) return { ...line, effect: "no-answer", message: "" };
  return { ...line, effect: answer.inject ? "injects" : "does-not-inject", message: answer.message };
}
