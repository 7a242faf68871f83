import assert from "node:assert/strict";
import { clusterInventory } from "../../test/support/kube/cluster.ts";
import { MeshError } from "../base/errors.ts";
import { ApiError } from "../kube/client/mod.ts";
import type { Check, Finding } from "./check.ts";
import type { Chosen } from "./choose.ts";
import { runChecks } from "./run.ts";

const inventory = clusterInventory({});

function check(id: string, needs: readonly string[], run: Check["run"]): Check {
  return { id, category: "webhook", title: `${id} is well`, needs, run };
}

const ok = (): Finding => ({ result: "ok" });
const broken = (): Finding => ({ result: "error", message: "it is broken" });

function all(checks: readonly Check[]): Chosen {
  return { checks, shown: new Set(checks.map(({ id }) => id)) };
}

async function outcomes(chosen: Chosen): Promise<string[]> {
  const results = await runChecks(chosen, inventory, () => {});
  return results.map(({ id, result, message }) => `${id} ${result} ${message}`.trim());
}

Deno.test("a failed check skips the checks that need it, and no others", async () => {
  const checks = [
    check("a", [], broken),
    check("b", ["a"], () => assert.fail("it is not run")),
    check("c", ["b"], () => assert.fail("it is not run")),
    check("d", [], ok),
    check("e", ["d"], ok),
  ];
  assert.deepEqual(await outcomes(all(checks)), [
    "a error it is broken",
    'b skipped it needs "a"',
    'c skipped it needs "b"',
    "d ok",
    "e ok",
  ]);
});

Deno.test("without a reachable API no other check runs", async () => {
  const checks = [check("api-reachable", [], broken), check("b", [], () => assert.fail("it is not run"))];
  assert.deepEqual(await outcomes(all(checks)), [
    "api-reachable error it is broken",
    'b skipped it needs "api-reachable"',
  ]);
});

Deno.test("warnings and unknown results skip nothing", async () => {
  const checks = [
    check("a", [], () => ({ result: "warning" })),
    check("b", [], () => ({ result: "unknown" })),
    check("c", ["a", "b"], ok),
  ];
  assert.deepEqual(await outcomes(all(checks)), ["a warning", "b unknown", "c ok"]);
});

Deno.test("a shared requirement runs once, and is reported only if selected or failed", async () => {
  let runs = 0;
  const count = (finding: () => Finding) => () => {
    runs++;
    return finding();
  };
  const checks = (first: () => Finding) => [check("a", [], count(first)), check("b", ["a"], ok), check("c", ["a"], ok)];
  const shown = new Set(["b", "c"]);
  assert.deepEqual(await outcomes({ checks: checks(ok), shown }), ["b ok", "c ok"]);
  assert.equal(runs, 1);
  assert.deepEqual(await outcomes({ checks: checks(broken), shown }), [
    "a error it is broken",
    'b skipped it needs "a"',
    'c skipped it needs "a"',
  ]);
});

Deno.test("an error that a check throws becomes its result", async () => {
  const thrown: readonly (readonly [Error, string])[] = [
    [new ApiError("No", { status: 403 }), "a unknown cannot tell: No"],
    [new ApiError("Gone", { hint: "is the cluster up?" }), "a error Gone; is the cluster up?"],
    [new MeshError("Bad input"), "a error Bad input"],
    [
      new TypeError("x is undefined"),
      "a error The check has a bug: x is undefined; please report this message",
    ],
  ];
  for (const [error, expected] of thrown) {
    assert.deepEqual(await outcomes(all([check("a", [], () => Promise.reject(error))])), [expected]);
  }
});

Deno.test("checks run concurrently, and progress counts them", async () => {
  const { promise, resolve } = Promise.withResolvers<Finding>();
  const checks = [check("a", [], () => promise), check("b", [], () => (resolve({ result: "ok" }), ok()))];
  const shown: string[] = [];
  await runChecks(all(checks), inventory, (ended, of) => shown.push(`${ended}/${of}`));
  assert.deepEqual(shown, ["1/2", "2/2"]);
});
