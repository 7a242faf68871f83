/** A check: an entry of a table, with a function that judges the snapshot of a cluster. */
import type { Fix } from "./advice/advice.ts";
import type { Facts } from "./facts.ts";
import type { CheckResult } from "./result_schema.ts";

/** The categories of checks, in the order of the output. */
export const CATEGORIES = [
  "kubernetes-api",
  "injector-configuration",
  "webhook",
  "namespaces",
  "workloads",
  "security",
  "data-plane",
] as const;

export type Category = typeof CATEGORIES[number];

/** `skipped`: a needed check failed, or no object needs the check. `unknown`: the result cannot be determined. */
export type Outcome = CheckResult["result"];

export interface Finding {
  readonly result: Outcome;
  /** The reason; left out if the check is ok. */
  readonly message?: string;
  readonly fixes?: readonly Fix[];
  /** The affected objects: `pod/shop/cart-1`. */
  readonly objects?: readonly string[];
  /** The missing right that makes the result unknown: `list on pods`. */
  readonly missingRight?: string;
}

export interface CheckRow {
  /** Stable identifier: the anchor in docs/checks.md, and the value of `--only` and `--skip`. */
  readonly id: string;
  /** A claim in the present tense: `the Kubernetes API is reachable`. */
  readonly title: string;
  /** Ids of the checks that must pass first. */
  readonly needs?: readonly string[];
  /** The check also runs before the mesh is installed (`--pre`). */
  readonly pre?: true;
  /** Runs the check. `judge` turns thrown errors, including errors for unknown values, into findings. */
  run(facts: Facts): Promise<Finding> | Finding;
}

export interface Check extends CheckRow {
  readonly category: Category;
  readonly needs: readonly string[];
}
