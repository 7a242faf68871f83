/** A check: a record of a table, judged over the inventory of a cluster. */
import type { Inventory } from "./inventory/mod.ts";
import type { CheckResult } from "./result_schema.ts";

/** The categories, in the order in which they are told. */
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

/**
 * What came out. `skipped`: what it needs is not there, or there is nothing to check; `unknown`: it cannot be told, for
 * example because it is forbidden to read what it takes.
 */
export type Outcome = CheckResult["result"];

/** What one check found. */
export interface Finding {
  readonly result: Outcome;
  /** Why it is so, and what to do, in one line or a few; left out if all is well. */
  readonly message?: string;
  /** What it is about: `namespace/web`, `pod/shop/cart-1`, `mutatingwebhookconfiguration/istio-sidecar-injector`. */
  readonly objects?: readonly string[];
}

/** A check. */
export interface Check {
  /** Stable: the anchor in docs/checks.md, and what `--only` and `--skip` name. */
  readonly id: string;
  readonly category: Category;
  /** The healthy state as a statement: `the Kubernetes API is reachable`. */
  readonly title: string;
  /** Ids of checks that must not have failed before: else this one is skipped. */
  readonly needs: readonly string[];
  /** It is meant for a cluster before the mesh is in it (`--pre`) too. */
  readonly pre?: true;
  /** An error that it throws is told as its result: `error`, or `unknown` where the API forbids. */
  run(inventory: Inventory): Promise<Finding> | Finding;
}
