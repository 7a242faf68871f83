/** Runs `check`, as a separate process or in this process. */
import assert from "node:assert/strict";
import { ALL_CHECKS } from "../../../../src/check/checks/all.ts";
import { chooseChecks } from "../../../../src/check/choose.ts";
import { inventoryOf } from "../../../../src/check/inventory/mod.ts";
import { CHECK_RESULTS, type CheckResult } from "../../../../src/check/result_schema.ts";
import { runChecks } from "../../../../src/check/run.ts";
import { connect, type KubeConnection } from "../../../../src/kube/client/mod.ts";
import { realWorld } from "../../../../src/platform/mod.ts";
import { type runMesh, sayMesh } from "../../../support/programs/mesh.ts";
import type { Cluster } from "../../support/cluster/cluster.ts";

/** Results by check id. */
export type Results = ReadonlyMap<string, CheckResult>;

/** A run of the program. */
export interface Run {
  readonly code: number;
  readonly results: Results;
}

/** Runs the program with `-o json`, in this process by default. Fails if its exit code does not match its results. */
export async function check(
  cluster: Pick<Cluster, "kubeconfig">,
  args: readonly string[] = [],
  { kubeconfig = cluster.kubeconfig, run = sayMesh }: {
    readonly kubeconfig?: string;
    readonly run?: typeof runMesh;
  } = {},
): Promise<Run> {
  const { code, stdout, stderr } = await run(["check", ...args, "-o", "json", "--kubeconfig", kubeconfig]);
  assert.equal(stderr, "", `check ${args.join(" ")}`);
  const { success, checks } = CHECK_RESULTS.parse(JSON.parse(stdout));
  assert.equal(code, success ? 0 : 1);
  return { code, results: byId(checks) };
}

/** Runs all checks in this process, which is faster. */
export async function resultsOf(kubeconfig: string): Promise<Results> {
  const api = await connect(realWorld(), { kubeconfig });
  try {
    return await resultsWith(api);
  } finally {
    api.close();
  }
}

/** Runs all checks in this process over an open connection. */
export async function resultsWith(api: KubeConnection): Promise<Results> {
  const scope = { namespace: undefined, istioNamespace: "istio-system", revision: undefined };
  const all = chooseChecks(ALL_CHECKS, { categories: [], only: [], skip: [], pre: false });
  return byId(await runChecks(all, inventoryOf({ api, clock: realWorld().clock, scope }), () => {}));
}

function byId(results: readonly CheckResult[]): Results {
  return new Map(results.map((each) => [each.id, each]));
}

/** Returns the ids and messages of checks with this result. */
export function withResult({ results }: Pick<Run, "results">, result: string): Record<string, string> {
  const found = [...results.values()].filter((each) => each.result === result);
  return Object.fromEntries(found.map(({ id, message }) => [id, message]));
}

/** Makes a kubeconfig that impersonates a user. */
export async function asUser(cluster: Cluster, user: string): Promise<string> {
  const config = JSON.parse(await Deno.readTextFile(cluster.kubeconfig));
  config.users[0].user.as = user;
  const kubeconfig = `${cluster.kubeconfig}-${user}`;
  await Deno.writeTextFile(kubeconfig, JSON.stringify(config));
  return kubeconfig;
}
