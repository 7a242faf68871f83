/**
 * Finds out whether the API server admits an injected pod: from a dry run, or else from the reports of the pod's
 * controller, or else from the rules of `check security`.
 */
import { apiPath } from "../../kube/api_path.ts";
import { trimmedEnd } from "../../base/text/mod.ts";
import { isLimitRange, isResourceQuota, type KubeApi } from "../../kube/client/mod.ts";
import { mapAt, textAt, type ValueMap } from "../../base/value.ts";
import { LABEL } from "../../istio/annotations/labels.ts";
import { annotationsOf, labelsOf, metadataOf, type Pod, specOf } from "../../inject/mod.ts";
import { obstaclesOf } from "../policies/obstacles.ts";
import { type PodRun, tryToCreate } from "../inventory/dry_run.ts";
import { isKnown, observe, type Observed, reason as whyUnknown } from "../inventory/observed.ts";
import { listOf, type Source } from "../inventory/source.ts";
import type { Target } from "./target.ts";
import type { RuleLine } from "./explanation_schema.ts";
import { DRY_RUN, type Verdict } from "./verdict.ts";

/** A verdict that considers the API server's response, with warnings. */
export interface Admitted {
  readonly verdict: Verdict;
  readonly warnings: readonly string[];
}

export interface Admitting {
  readonly api: KubeApi;
  readonly clock: Source["clock"];
}

/** A workload and its new pod. */
export interface Created {
  readonly target: Target;
  readonly pod: Pod;
}

export interface Candidate extends Created {
  readonly verdict: Verdict & { readonly verdict: "injected" };
  /** Messages from the pod's controller about pods that it could not create. */
  readonly failures: readonly string[];
}

/** Confirms or corrects the verdict `injected` with a dry run of the pod. */
export async function admitted(source: Admitting, candidate: Candidate): Promise<Admitted> {
  const { verdict, failures: [failure] } = candidate;
  const run = await dryRun(source, candidate);
  if (isKnown(run)) return { verdict: byDryRun(verdict, run.value), warnings: [] };
  if (failure !== undefined) return { verdict: refused(verdict, failure), warnings: [] };
  return await judged(source, candidate, `no dry run shows whether the API server admits the pod: ${whyUnknown(run)}`);
}

/** A pod whose webhooks or configuration the user has no right to read. */
export interface Unread extends Created {
  readonly verdict: Verdict;
  readonly namespaceLabels: ValueMap;
}

/** Derives a verdict from a dry run. The dry run shows what happens to the pod, and the labels show why. */
export async function tried(source: Admitting, unread: Unread): Promise<Admitted> {
  const run = await dryRun(source, unread);
  if (isKnown(run)) return { verdict: shownBy(run.value, unread), warnings: [] };
  return { verdict: unread.verdict, warnings: [`no dry run shows what happens to the pod: ${whyUnknown(run)}`] };
}

/** Creates the pod as a dry run. Unknown if the dry run does not show what happens to the pod. */
async function dryRun(source: Admitting, { target, pod }: Created): Promise<Observed<PodRun>> {
  const run = await tryToCreate(source, target.namespace, newPod(target, pod));
  if (!isKnown(run) || !DOUBTS.some((isDoubtful) => isDoubtful(run.value, target))) return run;
  return {
    failed: run.value.message || "the pod has a different name in the dry run, and is created without a sidecar",
  };
}

function shownBy({ outcome, message, pod: result }: PodRun, { pod, verdict, namespaceLabels }: Unread): Verdict {
  const label = askingLabel(labelsOf(pod), namespaceLabels);
  const { field = "namespace.metadata.labels", value = null } = label ?? {};
  const seen = (effect: RuleLine["effect"]) => {
    return { ...verdict, field, rules: [...verdict.rules, { rule: DRY_RUN, field, value, effect, message }] };
  };
  if (outcome === "injected") {
    const why = `the API server added the sidecar in a dry run${label === undefined ? "" : `: ${label.text}`}`;
    return { ...seen("injects"), verdict: "injected", by: DRY_RUN, reason: "dry-run", message: why, result };
  }
  if (outcome !== "not-injected") {
    return {
      ...refused(seen("refuses"), message, outcome === "failed" ? "webhook-fails" : undefined),
      message: `the API server refuses the pod in a dry run: ${message}`,
    };
  }
  const state = "in a dry run, the API server creates the pod without a sidecar";
  return {
    ...seen("does-not-inject"),
    verdict: "not-injected",
    by: null,
    result: undefined,
    reason: label === undefined ? "namespace-not-labelled" : "webhook-without-effect",
    message: label === undefined
      ? `${state}: neither the namespace nor the pod has an injection label`
      : `${state}, although ${label.text}`,
  };
}

/** Returns the label that requests injection. Labels of the pod come first (Istio, "Installing the Sidecar"). */
function askingLabel(pod: ValueMap, namespace: ValueMap) {
  const all = [
    { of: "pod", labels: pod, key: LABEL.inject },
    { of: "pod", labels: pod, key: LABEL.revision },
    { of: "namespace", labels: namespace, key: LABEL.injection },
    { of: "namespace", labels: namespace, key: LABEL.revision },
  ];
  const found = all.find(({ labels, key }) => !["", "false", "disabled"].includes(textAt(labels, key)));
  if (found === undefined) return undefined;
  const { of, labels, key } = found;
  const value = textAt(labels, key);
  const field = `${of === "pod" ? "" : "namespace."}metadata.labels["${key}"]`;
  return { field, value, text: `the ${of} has the label ${key}=${value}` };
}

/** Returns the pod to create: without the fields that the API server sets, and with a new name if the pod exists. */
function newPod(target: Target, pod: Pod): ValueMap {
  const { nodeName: _node, ...spec } = specOf(pod);
  const metadata = { ...nameFor(target, pod), labels: labelsOf(pod), annotations: annotationsOf(pod) };
  return asJson({ apiVersion: "v1", kind: "Pod", metadata, spec });
}

function nameFor({ name: workload, file }: Target, pod: Pod): ValueMap {
  const { name, generateName } = metadataOf(pod);
  if (file !== undefined && name !== undefined) return { name };
  return { generateName: generateName ?? `${trimmedEnd(workload.slice(0, 50), "-")}-` };
}

/** Converts the integers of a manifest from bigint to number. */
function asJson(pod: ValueMap): ValueMap {
  return JSON.parse(JSON.stringify(pod, (_key, value) => typeof value === "bigint" ? Number(value) : value));
}

/** Conditions under which a dry run does not show what happens to the pod. */
const DOUBTS: readonly ((run: PodRun, target: Target) => boolean)[] = [
  // A webhook does not support dry runs.
  ({ message }) => /does not support dry run/.test(message),
  // Other objects of the manifest do not exist yet.
  ({ message }, { file }) => file !== undefined && NOT_YET.test(message),
  // A match condition may read the name, which is different in the dry run.
  ({ outcome }, { file, row }) => outcome === "not-injected" && file === undefined && row.kind === "Pod",
];

const NOT_YET = /already exists|looking up service account|no PriorityClass/;

function byDryRun(verdict: Candidate["verdict"], { outcome, message }: PodRun): Verdict {
  if (outcome === "injected") return verdict;
  if (outcome !== "not-injected") return refused(verdict, message, outcome === "failed" ? "webhook-fails" : undefined);
  return {
    ...verdict,
    verdict: "not-injected",
    by: null,
    reason: "webhook-without-effect",
    field: "",
    message:
      `"${verdict.by}" should inject the pod, but in a dry run, the API server creates the pod without a sidecar: ` +
      'the webhook does not respond, or is not called; see "kubectl mesh check webhook"',
    injecting: [],
    result: undefined,
  };
}

function refused(verdict: Verdict, message: string, reason = "api-server-refuses"): Verdict {
  return {
    ...verdict,
    verdict: "refused",
    by: null,
    reason,
    field: "",
    message: `would be injected, but the API server refuses the pod: ${message}`,
    result: undefined,
  };
}

/** Applies the rules of `check security` to the objects that the user may read. */
async function judged({ api }: Admitting, { target, verdict }: Candidate, doubt: string): Promise<Admitted> {
  const { namespace } = target;
  const [found, quotas, ranges] = await Promise.all([
    observe("get on namespaces", () => api.get(apiPath("api/v1", "namespaces", undefined, namespace))),
    listOf({ api }, "api/v1", "resourcequotas", { isKind: isResourceQuota, namespace }),
    listOf({ api }, "api/v1", "limitranges", { isKind: isLimitRange, namespace }),
  ]);
  const unread = [...whyNot(found), ...whyNot(quotas), ...whyNot(ranges)];
  const obstacles = obstaclesOf(verdict.result ?? {}, {
    labels: mapAt(metadataOf({ ...valueOr(found, undefined) }), "labels"),
    quotas: valueOr(quotas, []),
    ranges: valueOr(ranges, []),
  });
  const [sure] = obstacles.filter(({ never }) => never);
  if (sure !== undefined) return { verdict: refused(verdict, sure.message), warnings: [doubt] };
  const warnings = [doubt, ...unread.map((why) => `cannot tell whether the namespace refuses the pod: ${why}`)];
  return { verdict, warnings: [...warnings, ...obstacles.map(({ message }) => message)] };
}

function whyNot(observed: Observed<unknown>): readonly string[] {
  return isKnown(observed) ? [] : [whyUnknown(observed)];
}

function valueOr<T>(observed: Observed<T>, otherwise: T): T {
  return isKnown(observed) ? observed.value : otherwise;
}
