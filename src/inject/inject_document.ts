/** Injects the pods in a document. */
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

/** Whether a pod is injected, and by which injectors. */
export interface Judgment {
  readonly decision: Decision;
  /** The injectors, in order. Several webhooks may inject one pod. */
  readonly injectors: readonly Injector[];
  /** Namespace for a manifest that does not set one. */
  readonly namespace: string;
  /** The webhook that injects the pod, and the revision of its control plane. */
  readonly by?: { readonly webhook: string; readonly revision: string };
}

/** Decides about the pod in a manifest. If that fails, throws a MeshError whose field path starts at the pod. */
export type Judge = (manifest: ValueMap, row: WorkloadKind, options: DocumentOptions) => Judgment;

/** Returns the change that injects pods by the rules of one injector. */
export function injection(injector: Injector): Change {
  const policy = { ...injector.config, byHand: injector.byHand };
  return injectionBy((manifest, row, { namespace = "" }) => {
    return { decision: decide(createdPod(manifest, row, namespace), policy), injectors: [injector], namespace };
  });
}

/** Returns the change that injects pods as `judge` decides. */
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

/** Checks an injected pod. Throws an InjectionError if the application or the sidecar violates the level. */
function checkFit(pod: Pod, row: WorkloadKind, level: Level | undefined): void {
  const broken = level === undefined ? [] : violationsOf(pod, level);
  if (broken.length === 0) return;
  const message = `The pod does not meet the Pod Security level "${level}": ${broken.join("; ")}`;
  throw new InjectionError("pod-security", message, {
    place: { field: fieldIn("spec", row) },
    hint: "change the securityContext of these containers",
  });
}

/**
 * Returns `1.8` if a configuration is from Istio 1.8, so that every unknown Istio annotation is reported. Otherwise
 * returns `current`, so that only likely typos are reported.
 */
function eraOf(injectors: readonly Injector[]): Era {
  const isOf18 = injectors.some(({ config }) => config.form === "legacy" && config.legacy.release.minor === 8);
  return isOf18 ? "1.8" : "current";
}
