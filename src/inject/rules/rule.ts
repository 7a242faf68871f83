/** Rules about manifests: what a rule is, what it reads, and what it finds. */
import type { Era } from "../../istio/mod.ts";
import type { ValueMap } from "../../base/value.ts";
import { containersOf, findProxy, type Pod, PROXY } from "../pod/pod.ts";

/** `error`: the workload will not work; `warning`: it may not; `note`: worth knowing, in JSON and SARIF only. */
export type Severity = "error" | "warning" | "note";

/** What every rule has. */
export interface RuleHead {
  /** Stable; users switch the rule off by it. */
  readonly id: string;
  readonly severity: Severity;
  /** A claim in the present tense that holds where the rule finds something. */
  readonly title: string;
  /** The code of `istioctl analyze` for the same. */
  readonly istio?: string;
}

/** A rule about one workload. */
export interface PodRule extends RuleHead {
  /** `injected`: only if the pod gets a sidecar. */
  readonly on: "injected" | "any";
  readonly problems: (subject: Subject) => readonly Problem[];
}

/** What a rule found. */
export interface Problem {
  /** The field in the manifest. */
  readonly field: string;
  readonly message: string;
  /** What to do: a clause without a final period. */
  readonly fix: string;
  /** In place of the rule's severity. */
  readonly severity?: Severity;
}

/** A problem, and the rule that found it. */
export interface Finding extends Problem {
  readonly rule: string;
  readonly severity: Severity;
  readonly line?: number;
}

/** The workload that rules look at. */
export interface Subject {
  readonly manifest: ValueMap;
  /** The kind of the workload, also where only its pod is known. */
  readonly kind: string;
  /** Where the pod is in the manifest; empty for a Pod. */
  readonly path: readonly string[];
  /** Before injection. */
  readonly pod: Pod;
  /** After it; `undefined` if the pod is not injected. */
  readonly injected: Pod | undefined;
  readonly era: Era;
}

/** A field of the pod as a field of the manifest. */
export function podField({ path }: Pick<Subject, "path">, field: string): string {
  return [...path, field].join(".");
}

/** Whether the sidecar is native. */
export function isNative({ injected }: Subject): boolean {
  return injected !== undefined && containersOf(injected, "initContainers").some(({ name }) => name === PROXY);
}

/** Whether the pod has a sidecar after injection; a template may add none. */
export function hasSidecar({ injected }: Subject): boolean {
  return injected !== undefined && findProxy(injected) !== undefined;
}

/** A finding as one line: `MESSAGE; FIX [RULE]`. */
export function findingText({ message, fix, rule }: Finding): string {
  return `${message}; ${fix} [${rule}]`;
}
