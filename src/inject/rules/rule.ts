/** Types of the rules about manifests. */
import type { Era } from "../../istio/mod.ts";
import type { ValueMap } from "../../base/value.ts";
import { containersOf, findProxy, type Pod, PROXY } from "../pod/pod.ts";

/** `error`: the workload will not work. `warning`: the workload may not work. `note`: printed only in JSON and SARIF. */
export type Severity = "error" | "warning" | "note";

export interface RuleHead {
  /** A stable ID. Users turn the rule off by its ID. */
  readonly id: string;
  readonly severity: Severity;
  /** A statement in the present tense that is true where the rule finds a problem. */
  readonly title: string;
  /** The code of the corresponding message of `istioctl analyze`. */
  readonly istio?: string;
}

export interface PodRule extends RuleHead {
  /** `injected`: the rule applies only to pods that are injected. */
  readonly on: "injected" | "any";
  readonly problems: (subject: Subject) => readonly Problem[];
}

export interface Problem {
  /** Field path in the manifest. */
  readonly field: string;
  readonly message: string;
  /** How to fix the problem: a clause without a final period. */
  readonly fix: string;
  readonly severity?: Severity;
}

export interface Finding extends Problem {
  readonly rule: string;
  readonly severity: Severity;
  readonly line?: number;
}

export interface Subject {
  readonly manifest: ValueMap;
  /** Kind of the workload, even if `manifest` is only its pod. */
  readonly kind: string;
  /** Path of the pod in the manifest. Empty for a Pod. */
  readonly path: readonly string[];
  readonly pod: Pod;
  /** The pod after injection; `undefined` if it is not injected. */
  readonly injected: Pod | undefined;
  readonly era: Era;
}

/** Converts a pod's field path to the manifest's field path. */
export function podField({ path }: Pick<Subject, "path">, field: string): string {
  return [...path, field].join(".");
}

export function isNative({ injected }: Subject): boolean {
  return injected !== undefined && containersOf(injected, "initContainers").some(({ name }) => name === PROXY);
}

/** Whether the injected pod has a sidecar. Some templates do not add one. */
export function hasSidecar({ injected }: Subject): boolean {
  return injected !== undefined && findProxy(injected) !== undefined;
}

/** Formats a finding as one line: `MESSAGE; FIX [RULE]`. */
export function findingText({ message, fix, rule }: Pick<Finding, "message" | "fix" | "rule">): string {
  return `${message}; ${fix} [${rule}]`;
}
