/** Explains one workload. */
import type { Pod } from "../../kube/client/mod.ts";
import { MeshError } from "../../base/errors.ts";
import type { ValueMap } from "../../base/value.ts";
import {
  fieldIn,
  type Finding,
  findingsOf,
  findingText,
  findProxy,
  labelsOf,
  podIn,
  type RulesOff,
} from "../../inject/mod.ts";
import { isKnown } from "../inventory/observed.ts";
import { type Admitted, admitted, type Admitting, type Created, tried } from "./admission.ts";
import { decidedFixes, type Deciding } from "../advice/decide.ts";
import type { ShownFix } from "../advice/advice_schema.ts";
import { adviceByReason, fixesFor } from "./explanation_advice.ts";
import { differences, livePods } from "./differences.ts";
import type { ExplanationLine } from "./explanation_schema.ts";
import { failedCreates } from "./failed_create.ts";
import type { Unjudged } from "./manifest_targets.ts";
import { misplacedRequests } from "./misplaced.ts";
import { type Cause, whyNotCalled } from "./not_called.ts";
import { hasOwnProxyIn, proxyField } from "./own_proxy.ts";
import { ownerOfTarget, podOf, type Target } from "./target.ts";
import { ASSUMED, DRY_RUN, IN_MANIFEST, type Question, type Verdict, verdictOf } from "./verdict.ts";

/** Explains why a workload is injected or not. The fields are the fields of the JSON in its order, and `hasProblem`. */
export interface Explanation extends ExplanationLine {
  /** Whether the result is a problem, not a decision of the user. If so, the exit code is 1. */
  readonly hasProblem: boolean;
}

/** The configuration and the state of the cluster that an explanation needs. */
export interface Knowledge {
  readonly webhooks: Question["webhooks"];
  readonly namespaceLabels: ValueMap;
  readonly isNamespaceKnown: boolean;
  readonly injectorFor: Question["injectorFor"];
  readonly nodes: Question["nodes"];
  readonly pods: readonly Pod[] | undefined;
  readonly gaps: readonly string[];
  /** The reason if the webhooks are unknown. A dry run may then still show the result. */
  readonly webhookGap: string | undefined;
  /** Access to the API server for dry runs; `undefined` without a cluster. */
  readonly admitting: Admitting | undefined;
  readonly deciding: Deciding;
}

export async function explain(target: Target, knowledge: Knowledge, rulesOff?: RulesOff): Promise<Explanation> {
  const { admitting } = knowledge;
  const pod = podOf(target);
  const failures = admitting === undefined ? [] : await failedCreates(admitting.api, target);
  const ruled = verdictOf({ ...knowledge, pod, owner: ownerOfTarget(target), isMade: target.row.path.length > 0 });
  const { verdict: byWebhooks, warnings } = await answered(ruled, { target, pod }, knowledge, failures);
  const verdict = await considered(byWebhooks, { target, pod }, knowledge);
  const live = target.file === undefined ? livePods(target, knowledge.pods ?? []) : [];
  const cause = causeOf(verdict, target, pod, knowledge);
  const misplaced = misplacedRequests(target);
  const findings = findingsFor(target, verdict, rulesOff);
  const differ = differences(verdict, live);
  const fixes = await decidedFixes(fixesFor({ target, verdict, cause, misplaced, live }), knowledge.deciding);
  return {
    workload: target.workload,
    verdict: verdict.verdict,
    injected: INJECTED[verdict.verdict],
    by: verdict.by,
    reason: cause.reason,
    rules: verdict.rules.map((rule) => ({ ...rule, field: fieldIn(rule.field, target.row) })),
    live,
    namespace: target.namespace,
    file: target.file ?? null,
    document: target.document ?? null,
    field: fieldIn(cause.field, target.row),
    message: cause.message,
    warnings: [
      ...target.warnings ?? [],
      ...knowledge.gaps,
      ...warnings,
      ...failures,
      // In a file, the rules of `inject` report misplaced labels.
      ...target.file === undefined ? misplaced.map(({ message }) => message) : [],
      ...several(verdict),
      ...differ,
      ...findings.filter(({ severity }) => severity !== "note").map(findingText),
    ],
    ...findings.length === 0 ? {} : { findings },
    fix: commandsIn(fixes),
    fixes,
    hasProblem: isProblem(verdict, cause, [...differ, ...failures]),
  };
}

function isProblem({ verdict, injecting }: Verdict, { reason }: Cause, troubles: readonly string[]): boolean {
  return PROBLEMS.includes(verdict) || WRONG.includes(reason) || injecting.length > 1 || troubles.length > 0;
}

/** Whether a webhook injects a new pod; `null` if unknown. A refused pod is never created. */
const INJECTED: Readonly<Record<Verdict["verdict"], boolean | null>> = {
  injected: true,
  "not-injected": false,
  refused: false,
  "cannot-tell": null,
};

/** Returns the commands of the first advice of each fix, or its text if it has no commands. */
function commandsIn(fixes: readonly ShownFix[]): readonly string[] {
  return fixes.flatMap(({ alternatives: [first] }) => {
    if (first === undefined) return [];
    return first.commands.length === 0 ? [first.change] : first.commands;
  });
}

/** Reasons that are caused by missing rights. A dry run can then show the result. */
const UNREAD: readonly string[] = ["namespace-unknown", "webhooks-unknown", "configuration-unknown", "native-unknown"];

async function answered(
  ruled: Verdict,
  created: Created,
  { admitting, namespaceLabels, webhookGap }: Knowledge,
  failures: readonly string[],
): Promise<Admitted> {
  if (admitting !== undefined && ruled.verdict === "injected") {
    return await admitted(admitting, { ...created, verdict: ruled, failures });
  }
  const { verdict, warnings } = admitting !== undefined && UNREAD.includes(ruled.reason)
    ? await tried(admitting, { ...created, verdict: ruled, namespaceLabels })
    : { verdict: ruled, warnings: [] };
  const isShown = verdict !== ruled;
  return { verdict, warnings: isShown || webhookGap === undefined ? warnings : [webhookGap, ...warnings] };
}

/** A pod that no webhook injects has a proxy if its manifest contains one. A dry run does not show which it is. */
async function considered(verdict: Verdict, { target, pod }: Created, { admitting }: Knowledge): Promise<Verdict> {
  if (verdict.verdict !== "not-injected" && verdict.by !== DRY_RUN) return verdict;
  if (findProxy(pod) === undefined) return verdict;
  try {
    if (!await hasOwnProxyIn(admitting?.api, target)) return verdict;
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    const message =
      `no webhook injects the pod, but whether its controller's manifest contains the proxy is unknown: ${error.message}`;
    return { ...verdict, verdict: "cannot-tell", by: null, reason: "manifest-unknown", field: "", message };
  }
  return {
    ...verdict,
    verdict: "not-injected",
    by: null,
    reason: IN_MANIFEST,
    field: proxyField(pod),
    message: "the manifest contains the proxy, so new pods have it without a webhook",
    result: pod,
  };
}

/** Applies the rules of `inject`, except rules that annotations of the pod or its controller turn off. */
function findingsFor({ manifest, row, file }: Target, { result }: Verdict, off?: RulesOff): readonly Finding[] {
  if (file === undefined) return [];
  const subject = { manifest, kind: row.kind, path: row.path, pod: podIn(manifest, row), injected: result };
  return findingsOf({ ...subject, era: "current" }, off);
}

/** Returns the explanation of a document or workload that contains no pod. */
export function explainUnjudged(
  { workload, verdict, reason, namespace, file, document, field, message, error }: Unjudged,
): Explanation {
  const hint = error?.hint === undefined || verdict === "cannot-tell" ? "" : `; ${error.hint}`;
  const ruling = { workload, verdict, injected: INJECTED[verdict], by: null, reason, rules: [], live: [] };
  const place = { namespace, file, document, field, message: `${message}${hint}` };
  return { ...ruling, ...place, warnings: [], fix: [], fixes: [], hasProblem: PROBLEMS.includes(verdict) };
}

/** Reasons for no injection that are problems, not choices of the user. */
const WRONG: readonly string[] = ["match-condition-fails", "no-webhook", "webhook-without-effect"];
const PROBLEMS: readonly Verdict["verdict"][] = ["refused", "cannot-tell"];

function causeOf(verdict: Verdict, target: Target, pod: ValueMap, knowledge: Knowledge): Cause {
  const { namespaceLabels: namespace, webhooks, pods } = knowledge;
  if (verdict.reason === "not-called" && webhooks !== ASSUMED && isKnown(webhooks)) {
    return whyNotCalled({ target, webhooks: webhooks.value, namespace, pod: labelsOf(pod), pods });
  }
  const { reason, field, message } = verdict;
  const isForbidden = webhooks !== ASSUMED && !isKnown(webhooks) && "forbidden" in webhooks;
  const asked = reason === "namespace-unknown" && isForbidden ? "webhooks-unknown" : reason;
  return { reason, field, message, advice: adviceByReason(asked, target) };
}

function several({ injecting }: Verdict): readonly string[] {
  if (injecting.length < 2) return [];
  return [`${injecting.length} webhooks would inject: ${injecting.map((name) => `"${name}"`).join(", ")}`];
}
