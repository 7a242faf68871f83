/** Explains one workload. */
import type { Pod } from "../../kube/client/mod.ts";
import type { ValueMap } from "../../base/value.ts";
import {
  type Finding,
  findingsOf,
  findingText,
  type Injector,
  labelsOf,
  podIn,
  type RulesOff,
} from "../../inject/mod.ts";
import { isKnown, type Observed } from "../inventory/observed.ts";
import type { InjectorWebhook } from "../inventory/injector_webhooks.ts";
import { type Admitted, admitted, type Admitting, tried } from "./admission.ts";
import { decidedFixes, type Deciding } from "../advice/decide.ts";
import type { ShownFix } from "../advice/advice_schema.ts";
import { adviceByReason, fixesFor } from "./explanation_advice.ts";
import { differences, livePods } from "./differences.ts";
import type { RuleLine } from "./explanation_schema.ts";
import type { LivePod } from "../inventory/live_pods.ts";
import { failedCreates } from "./failed_create.ts";
import type { Unjudged } from "./manifest_targets.ts";
import { type Misplaced, misplacedRequests } from "./misplaced.ts";
import { type Cause, whyNotCalled } from "./not_called.ts";
import { fieldIn, ownerOfTarget, podOf, type Target } from "./target.ts";
import { ASSUMED, type Question, type Ruling, type Verdict, verdictOf } from "./verdict.ts";

/** The explanation why a workload is injected or not. */
export type Explanation = Ruling & {
  readonly workload: string;
  readonly namespace: string;
  /** The file of the manifest; `undefined` for an object of the cluster. */
  readonly file: string | undefined;
  readonly document: number | undefined;
  readonly reason: string;
  readonly field: string;
  readonly message: string;
  readonly rules: readonly RuleLine[];
  readonly live: readonly LivePod[];
  readonly warnings: readonly string[];
  /** Findings from the rules of `inject`, for a workload that was read from a file. */
  readonly findings: readonly Finding[];
  readonly fixes: readonly ShownFix[];
  /** Whether the result is a problem, not a decision of the user. If so, the exit code is 1. */
  readonly hasProblem: boolean;
};

/** The configuration and the state of the cluster that an explanation needs. */
export interface Knowledge {
  readonly webhooks: Question["webhooks"];
  readonly namespaceLabels: ValueMap;
  readonly namespace: Observed<boolean>;
  readonly injectorFor: (webhook: InjectorWebhook | undefined) => Observed<Injector>;
  /** Pods of the workload's namespace; `undefined` if the pods are unknown. */
  readonly pods: readonly Pod[] | undefined;
  readonly gaps: readonly string[];
  /** The reason if the webhooks are unknown. A dry run may then still show the result. */
  readonly webhookGap: string | undefined;
  /** Access to the API server for dry runs; `undefined` without a cluster. */
  readonly admitting: Admitting | undefined;
  /** The queries that decide which advice is shown. */
  readonly deciding: Deciding;
}

/** Returns the explanation of one workload. */
export async function explain(target: Target, knowledge: Knowledge, rulesOff?: RulesOff): Promise<Explanation> {
  const { namespaceLabels, webhooks, injectorFor, admitting, pods } = knowledge;
  const pod = podOf(target);
  const failures = admitting === undefined ? [] : await failedCreates(admitting.api, target);
  const ruled = verdictOf({
    pod,
    owner: ownerOfTarget(target),
    isMade: target.row.path.length > 0,
    namespaceLabels,
    webhooks,
    injectorFor,
  });
  const { verdict, warnings } = await answered(ruled, target, { knowledge, failures });
  const live = target.file === undefined ? livePods(target, pods ?? []) : [];
  const cause = causeOf(verdict, target, { namespaceLabels, webhooks, podLabels: labelsOf(pod), pods });
  const misplaced = misplacedRequests(target);
  const findings = findingsFor(target, verdict, rulesOff);
  const differ = differences(verdict, live);
  const fixes = await decidedFixes(fixesFor({ target, verdict, cause, misplaced, live }), knowledge.deciding);
  return {
    workload: target.workload,
    namespace: target.namespace,
    file: target.file,
    document: target.document,
    ...rulingOf(verdict),
    reason: cause.reason,
    field: fieldIn(cause.field, target),
    message: cause.message,
    rules: verdict.rules.map((rule) => ({ ...rule, field: fieldIn(rule.field, target) })),
    live,
    warnings: [
      ...target.warnings ?? [],
      ...knowledge.gaps,
      ...warnings,
      ...failures,
      ...misplacedTexts(target, misplaced),
      ...several(verdict),
      ...differ,
      ...findings.filter(({ severity }) => severity !== "note").map(findingText),
    ],
    findings,
    fixes,
    hasProblem: PROBLEMS.includes(verdict.verdict) || verdict.injecting.length > 1 || differ.length > 0 ||
      failures.length > 0 || WRONG.includes(cause.reason),
  };
}

/** Reasons that are caused by missing rights. A dry run can then show the result. */
const UNREAD: readonly string[] = ["webhooks-unknown", "configuration-unknown"];

interface Asked {
  readonly knowledge: Knowledge;
  readonly failures: readonly string[];
}

/** Completes the verdict with dry runs, if there is a cluster. */
async function answered(ruled: Verdict, target: Target, { knowledge, failures }: Asked): Promise<Admitted> {
  const { admitting, namespaceLabels, webhookGap } = knowledge;
  const pod = podOf(target);
  if (admitting !== undefined && ruled.verdict === "injected") {
    return await admitted(admitting, { target, pod, verdict: ruled, failures });
  }
  const isUnread = admitting !== undefined && UNREAD.includes(ruled.reason);
  const { verdict, warnings } = isUnread
    ? await tried(admitting, { target, pod, verdict: ruled, namespaceLabels })
    : { verdict: ruled, warnings: [] };
  const isShown = isUnread && verdict !== ruled;
  return { verdict, warnings: isShown || webhookGap === undefined ? warnings : [webhookGap, ...warnings] };
}

/** Returns warnings about misplaced labels of a cluster object. In a file, the rules of `inject` report them. */
function misplacedTexts({ file }: Target, misplaced: readonly Misplaced[]): readonly string[] {
  return file === undefined ? misplaced.map(({ message }) => message) : [];
}

/** Applies the rules of `inject`, except rules that annotations of the pod or its controller turn off. */
function findingsFor({ manifest, row, file }: Target, { result }: Verdict, off?: RulesOff): readonly Finding[] {
  if (file === undefined) return [];
  const subject = { manifest, kind: row.kind, path: row.path, pod: podIn(manifest, row), injected: result };
  return findingsOf({ ...subject, era: "current" }, off);
}

/** Returns the explanation of a document or workload that contains no pod. */
export function explainUnjudged({ verdict, error, ...rest }: Unjudged): Explanation {
  const none = { rules: [], live: [], warnings: [], findings: [], fixes: [] };
  const hint = error?.hint === undefined || verdict === "cannot-tell" ? "" : `; ${error.hint}`;
  const hasProblem = PROBLEMS.includes(verdict);
  return { ...rest, ...none, verdict, by: null, message: `${rest.message}${hint}`, hasProblem };
}

/** Reasons for no injection that are problems, not choices of the user. */
const WRONG: readonly string[] = ["match-condition-fails", "no-webhook", "webhook-without-effect"];
const PROBLEMS: readonly Verdict["verdict"][] = ["refused", "cannot-tell"];

function rulingOf(ruling: Verdict): Ruling {
  return ruling.verdict === "injected"
    ? { verdict: ruling.verdict, by: ruling.by }
    : { verdict: ruling.verdict, by: ruling.by };
}

interface Labels {
  readonly namespaceLabels: ValueMap;
  readonly webhooks: Question["webhooks"];
  readonly podLabels: ValueMap;
  readonly pods: readonly Pod[] | undefined;
}

function causeOf(verdict: Verdict, target: Target, { namespaceLabels, webhooks, podLabels, pods }: Labels): Cause {
  if (verdict.reason === "not-called" && webhooks !== ASSUMED && isKnown(webhooks)) {
    return whyNotCalled({ target, webhooks: webhooks.value, namespace: namespaceLabels, pod: podLabels, pods });
  }
  const { reason, field, message } = verdict;
  return { reason, field, message, advice: adviceByReason(reason, target) };
}

function several({ injecting }: Verdict): readonly string[] {
  if (injecting.length < 2) return [];
  return [`${injecting.length} webhooks would inject: ${injecting.map((name) => `"${name}"`).join(", ")}`];
}
