/** Injection of the pods in a document. */
import type { Era } from "../istio/mod.ts";
import { sameValue } from "../base/values/mod.ts";
import type { ValueMap } from "../base/value.ts";
import type { Injector } from "./injector.ts";
import type { Decision } from "./decision/answer.ts";
import { decide } from "./decision/decision.ts";
import { InjectionError } from "./injection_error.ts";
import { injectInTurn } from "./inject_pod.ts";
import { containersOf, type Pod } from "./pod/pod.ts";
import type { Change, DocumentOptions, Outcome } from "./document/document.ts";
import type { WorkloadKind } from "./pod/kinds.ts";
import { fieldIn, inPodOf, withoutTemplate } from "./document/pod_row.ts";
import { type Level, violationsOf } from "./rules/pod_security.ts";
import { findingsOf } from "./rules/rules.ts";
import { createdPod, ownerOf, podIn, withPod } from "./pod/workload.ts";
import { type ReadWorkload, readWorkload } from "./read_workload.ts";

/** Whether a pod is injected, and by what. */
export interface Judgment {
  readonly decision: Decision;
  /** In order; several webhooks may inject one pod. */
  readonly injectors: readonly Injector[];
  /** The default for a manifest without one. */
  readonly namespace: string;
  /** The webhook that injects the pod, and the revision of its control plane. */
  readonly by?: { readonly webhook: string; readonly revision: string };
}

/** Judges the pod of a manifest. Errors: a MeshError if it is unknown; field paths start at the pod. */
export type Judge = (manifest: ValueMap, row: WorkloadKind, options: DocumentOptions) => Judgment;

/** Injection by the rules of an injector. */
export function injection(injector: Injector): Change {
  const policy = { ...injector.config, byHand: injector.byHand };
  return injectionBy((manifest, row, { namespace = "" }) => {
    return { decision: decide(createdPod(manifest, row, namespace), policy), injectors: [injector], namespace };
  });
}

/** Injection where a judge decides. */
export function injectionBy(judge: Judge): Change {
  return (value, row, options) => injectRow(value, row, { judge, options });
}

interface Run {
  readonly judge: Judge;
  readonly options: DocumentOptions;
}

function injectRow(value: ValueMap, row: WorkloadKind, run: Run): Outcome {
  const read = readWorkload(value, row);
  if (read === undefined) return withoutTemplate(value, row);
  const { manifest, misread } = read;
  const pod = podIn(manifest, row);
  const judgment = inPodOf(row, () => run.judge(manifest, row, run.options));
  const { decision } = judgment;
  const field = fieldIn(decision.field, row);
  const subject = { manifest, kind: row.kind, path: row.path, pod, era: eraOf(judgment.injectors) };
  const find = (injected: Pod | undefined) => findingsOf({ ...subject, injected }, run.options.rulesOff);
  if (!decision.inject) {
    return { ...decision, result: "skipped", field, findings: find(undefined), misread, next: value };
  }
  const { injected, ...done } = injectWorkload(read, row, judgment);
  checkFit(injected, row, run.options.fit);
  return {
    ...decision,
    ...judgment.by,
    field,
    misread,
    next: value,
    ...done,
    warnings: [...decision.warnings, ...done.warnings],
    findings: find(injected),
    injected: { pod: injected, path: row.path },
  };
}

function injectWorkload(
  { manifest }: ReadWorkload,
  row: WorkloadKind,
  { namespace, injectors }: Judgment,
) {
  const pod = podIn(manifest, row);
  const owner = ownerOf(manifest, row, namespace);
  const { pod: injected } = inPodOf(row, () => injectInTurn(pod, owner, injectors));
  const changed = withPod(manifest, row, injected);
  const first = containersOf(pod, "initContainers").length === 0 &&
    containersOf(injected, "initContainers").length > 0;
  const warnings = first && row.initContainersWarning !== undefined ? [row.initContainersWarning] : [];
  if (sameValue(manifest, changed)) {
    const message = "already injected";
    return { result: "unchanged", reason: "already-injected", message, warnings, injected } as const;
  }
  return { result: "injected", warnings, injected, next: changed } as const;
}

/** Errors: an InjectionError for a pod that does not meet the level, because of the application or of the configuration. */
function checkFit(pod: Pod, row: WorkloadKind, level: Level | undefined): void {
  const broken = level === undefined ? [] : violationsOf(pod, level);
  if (broken.length === 0) return;
  const message = `The pod does not meet the level "${level}" of Pod Security: ${broken.join("; ")}`;
  throw new InjectionError("pod-security", message, {
    place: { field: fieldIn("spec", row) },
    hint: "change the securityContext of these containers",
  });
}

/** Istio 1.8 reports every unknown annotation of Istio; for other releases only likely misspellings count. */
function eraOf(injectors: readonly Injector[]): Era {
  const isOf18 = injectors.some(({ config }) => config.form === "legacy" && config.legacy.release.minor === 8);
  return isOf18 ? "1.8" : "current";
}
