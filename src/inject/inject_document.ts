/** Injection of the pods in a document. */
import { decode, problemTexts } from "../kube/mod.ts";
import type { Era } from "../istio/mod.ts";
import { sameValue } from "../base/values/mod.ts";
import { textAt, type ValueMap } from "../base/value.ts";
import type { Injector } from "./injector.ts";
import type { Decision } from "./decision/answer.ts";
import { decide } from "./decision/decision.ts";
import { InjectionError } from "./injection_error.ts";
import { injectPod } from "./inject_pod.ts";
import { withKey, withSpecKey } from "./pod/change.ts";
import { containersOf, type Pod } from "./pod/pod.ts";
import { conform } from "./document/conform.ts";
import type { Change, DocumentOptions, Outcome } from "./document/document.ts";
import { hasPod, isCustom, type WorkloadKind } from "./pod/kinds.ts";
import { fieldIn, inPodOf, withoutTemplate } from "./document/pod_row.ts";
import { type Level, violationsOf } from "./rules/pod_security.ts";
import { findingsOf } from "./rules/rules.ts";
import { type Owner, ownerOf, podIn, withPod } from "./pod/workload.ts";

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
    return { decision: decide(podIn(manifest, row), policy), injectors: [injector], namespace };
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
  if (isCustom(row) && !hasPod(value, row)) return withoutTemplate(value, row);
  const manifest = readManifest(value, row);
  const pod = podIn(manifest, row);
  const judgment = inPodOf(row, () => run.judge(manifest, row, run.options));
  const { decision } = judgment;
  const field = fieldIn(decision.field, row);
  const subject = { manifest, kind: row.kind, path: row.path, pod, era: eraOf(judgment.injectors) };
  const find = (injected: Pod | undefined) => findingsOf({ ...subject, injected }, run.options.rulesOff);
  if (!decision.inject) {
    return { ...decision, result: "skipped", field, findings: find(undefined), next: value };
  }
  const { injected, ...done } = injectWorkload(value, manifest, row, judgment);
  checkFit(injected, row, run.options.fit);
  const warnings = [...decision.warnings, ...done.warnings];
  const findings = find(injected);
  return {
    ...decision,
    ...judgment.by,
    field,
    ...done,
    warnings,
    findings,
    injected: { pod: injected, path: row.path },
  };
}

/** The manifest as Kubernetes reads it. Errors: an InjectionError that names every invalid field. */
function readManifest(value: ValueMap, row: WorkloadKind): ValueMap {
  if (!isCustom(row)) return readTyped(value, row);
  const pod = inPodOf(row, () => readTyped(podIn(value, row), row));
  return withPod(value, row, withContainerNames(pod, row.containerName));
}

function readTyped(value: ValueMap, row: WorkloadKind): ValueMap {
  const { value: typed, problems, isAsWritten } = decode(value, row.type);
  const [first] = problems;
  if (first === undefined) return isAsWritten ? value : conform(value, typed, row.type);
  throw new InjectionError("invalid-manifest", `The ${row.kind} cannot be read: ${problemTexts(problems)}`, {
    place: { field: first.field },
  });
}

/** Names containers as the controller of the kind does: several get a number. */
function withContainerNames(pod: Pod, name: string | undefined): Pod {
  const containers = containersOf(pod, "containers");
  if (name === undefined || containers.every((container) => textAt(container, "name") !== "")) return pod;
  const named = containers.map((container, index) =>
    textAt(container, "name") === ""
      ? withKey(container, "name", containers.length === 1 ? name : `${name}-${index}`)
      : container
  );
  return withSpecKey(pod, "containers", named);
}

function injectWorkload(
  value: ValueMap,
  manifest: ValueMap,
  row: WorkloadKind,
  { namespace, injectors }: Judgment,
) {
  const pod = podIn(manifest, row);
  checkContainers(manifest, pod, row);
  const owner = ownerOf(manifest, row, namespace);
  const injected = inPodOf(row, () => injectInTurn(pod, owner, injectors));
  const changed = withPod(manifest, row, injected);
  const next = row.typed ? decode(changed, row.type).value : changed;
  const first = containersOf(pod, "initContainers").length === 0 &&
    containersOf(injected, "initContainers").length > 0;
  const warnings = first && row.initContainersWarning !== undefined ? [row.initContainersWarning] : [];
  if (sameValue(value, next)) {
    const message = "already injected";
    return { result: "unchanged", reason: "already-injected", message, warnings, injected, next: value } as const;
  }
  return { result: "injected", warnings, injected, next } as const;
}

/** Each injector gets the result of the one before. */
function injectInTurn(pod: Pod, owner: Owner, injectors: readonly Injector[]): Pod {
  return injectors.reduce((before, injector) => injectPod(before, owner, injector).pod, pod);
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

function checkContainers(manifest: ValueMap, pod: Pod, row: WorkloadKind): void {
  if (containersOf(pod, "containers").length > 0) return;
  const missing = hasPod(manifest, row) ? [...row.path, "spec", "containers"] : row.path;
  const field = missing.join(".");
  throw new InjectionError("no-containers", `The ${row.kind} has no containers: "${field}" is missing or empty`, {
    place: { field },
  });
}

/** Istio 1.8 reports every unknown annotation of Istio; for other releases only likely misspellings count. */
function eraOf(injectors: readonly Injector[]): Era {
  const isOf18 = injectors.some(({ config }) => config.form === "legacy" && config.legacy.release.minor === 8);
  return isOf18 ? "1.8" : "current";
}
