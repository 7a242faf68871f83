import assert from "node:assert/strict";
import type { Category, Check } from "./check.ts";
import { type Choice, chooseChecks } from "./choose.ts";

function check(id: string, category: Category, needs: readonly string[] = [], pre = false): Check {
  return { id, category, title: id, needs, ...(pre ? { pre: true as const } : {}), run: () => ({ result: "ok" }) };
}

const CHECKS = [
  check("api-reachable", "kubernetes-api", [], true),
  check("exists", "webhook"),
  check("served", "webhook", ["exists"]),
  check("labels", "namespaces", [], true),
];

function chosen(choice: Partial<Choice>): { run: string[]; shown: string[] } {
  const { checks, shown } = chooseChecks(CHECKS, { categories: [], only: [], skip: [], pre: false, ...choice });
  return { run: checks.map(({ id }) => id), shown: [...shown] };
}

Deno.test("all checks run by default", () => {
  const ids = CHECKS.map(({ id }) => id);
  assert.deepEqual(chosen({}), { run: ids, shown: ids });
});

Deno.test("needed checks run, and are not reported", () => {
  const served = { run: ["api-reachable", "exists", "served"], shown: ["served"] };
  assert.deepEqual(chosen({ only: ["served"] }), served);
  assert.deepEqual(chosen({ categories: ["namespaces"] }), { run: ["api-reachable", "labels"], shown: ["labels"] });
  assert.deepEqual(chosen({ only: ["webhook"] }).shown, ["exists", "served"]);
});

Deno.test("excluded checks do not run, even if needed", () => {
  assert.deepEqual(chosen({ skip: ["exists", "namespaces"] }), {
    run: ["api-reachable", "served"],
    shown: ["api-reachable", "served"],
  });
});

Deno.test("--pre selects the checks for a cluster without a mesh", () => {
  assert.deepEqual(chosen({ pre: true }).shown, ["api-reachable", "labels"]);
});

Deno.test("unknown ids and an empty selection are usage errors", () => {
  const hint = (hint: string) => (error: unknown) => Object(error).hint === hint;
  assert.throws(() => chosen({ categories: ["webhok"] }), hint('did you mean "webhook"?'));
  assert.throws(() => chosen({ categories: ["injecton"] }), hint('did you mean "kubectl mesh check injection"?'));
  assert.throws(() => chosen({ categories: ["served"] }), hint('"served" is a check, so use "--only served"'));
  const workload = 'for one workload use "kubectl mesh check injection deploy/web"';
  assert.throws(() => chosen({ categories: ["deploy/web"] }), hint(workload));
  assert.throws(() => chosen({ only: ["servd"] }), hint('did you mean "served"?'));
  assert.throws(() => chosen({ skip: ["zzzzzzzzzz"] }), /There is no check or category "zzzzzzzzzz"/);
  assert.throws(() => chosen({ categories: ["webhook"], pre: true }), /No check is selected/);
});
