/** Injects the pods in a document. */
import type { Era } from "../istio/mod.ts";
import { sameValue } from "../base/values/mod.ts";
import type { ValueMap } from "../base/value.ts";
import type { Injector } from "./injector.ts";
import { decide, type Decision } from "./decision/decision.ts";
import { InjectionError } from "./injection_error.ts";
import { injectInTurn } from "./inject_pod.ts";
import { containersOf, type Pod } from "./pod/pod.ts";
import type { Change, DocumentOptions } from "./document/document.ts";
import type { WorkloadKind } from "./pod/kinds.ts";
import { fieldIn, inPodOf, withoutTemplate } from "./document/pod_row.ts";
import { type Level, violationsOf } from "./rules/pod_security.ts";
import { findingsOf } from "./rules/rules.ts";
import { createdPod, ownerOf, podIn, withPod } from "./pod/workload.ts";
import { readWorkload } from "./read_workload.ts";

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
type Judge = (manifest: ValueMap, row: WorkloadKind, options: DocumentOptions) => Judgment;

/** Returns the change that injects pods by the rules of one injector. */
export function injection(injector: Injector): Change {
  const policy = { ...injector.config, byHand: injector.byHand };
  return injectionBy((manifest, row, { namespace = "" }) => {
    return { decision: decide(createdPod(manifest, row, namespace), policy), injectors: [injector], namespace };
  });
}

/** Returns the change that injects pods as `judge` decides. */
export function injectionBy(judge: Judge): Change {
  return (value, row, options) => {
    const read = readWorkload(value, row);
    if (read === undefined) return withoutTemplate(value, row);
    const { manifest, misread } = read;
    const judgment = inPodOf(row, () => judge(manifest, row, options));
    const { decision, injectors } = judgment;
    const pod = podIn(manifest, row);
    const subject = { manifest, kind: row.kind, path: row.path, pod, era: eraOf(injectors) };
    const find = (injected: Pod | undefined) => findingsOf({ ...subject, injected }, options.rulesOff);
    const decided = { ...decision, field: fieldIn(decision.field, row), misread };
    if (!decision.inject) return { ...decided, result: "skipped", findings: find(undefined), next: value };
    const owner = ownerOf(manifest, row, judgment.namespace);
    const { pod: injected } = inPodOf(row, () => injectInTurn(pod, owner, injectors));
    checkFit(injected, row, options.fit);
    const next = withPod(manifest, row, injected);
    const isSame = sameValue(manifest, next);
    return {
      ...decided,
      ...judgment.by,
      ...isSame ? ALREADY_INJECTED : { result: "injected" },
      misread: misread.map((each) => ({ ...each, isConverted: !isSame })),
      next: isSame ? value : next,
      warnings: [...decision.warnings, ...kindWarnings(pod, injected, row)],
      findings: find(injected),
      injected: { pod: injected, path: row.path },
    };
  };
}

const ALREADY_INJECTED = { result: "unchanged", reason: "already-injected", message: "already injected" } as const;

function kindWarnings(pod: Pod, injected: Pod, { initContainersWarning: warning }: WorkloadKind): readonly string[] {
  const isFirst = containersOf(pod, "initContainers").length === 0 &&
    containersOf(injected, "initContainers").length > 0;
  return isFirst && warning !== undefined ? [warning] : [];
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
