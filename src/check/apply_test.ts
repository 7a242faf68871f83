import assert from "node:assert/strict";
import { fakeWorld } from "../../test/support/fake_world.ts";
import type { CheckResult } from "./result_schema.ts";
import type { ShownAdvice } from "./advice/advice_schema.ts";
import { applied, type Repair, repairsIn } from "./apply.ts";

function advice(command: string, rest: Partial<ShownAdvice> = {}): ShownAdvice {
  const commands = command === "" ? [] : [command];
  return { change: `run ${command}`, scope: "workload", risk: "none", commands, needs: [], forbidden: [], ...rest };
}

function result(id: string, alternatives: readonly ShownAdvice[], rest: Partial<CheckResult> = {}): CheckResult {
  const of = { category: "webhook", title: id, message: "", hint: "", missingRight: "", objects: [], becauseOf: "" };
  return { id, ...of, result: "error", fixes: [{ objects: [`pod/shop/${id}`], alternatives }], ...rest };
}

const LOOK = advice("kubectl logs x", { scope: "nothing" });

Deno.test("repairsIn() takes each first executable advice once, and skips consequences", () => {
  const found = repairsIn([
    result("a", [advice(""), LOOK, advice("kubectl patch a")]),
    result("b", [
      advice("kubectl create secret --from-file=x=FILE"),
      advice("kubectl edit b"),
      advice("kubectl delete b", { risk: "loosens" }),
    ]),
    result("c", [advice("kubectl delete c")]),
    result("d", [advice("kubectl delete c")]),
    result("e", [advice("kubectl delete e")], { becauseOf: "a" }),
    result("g", [advice("kubectl patch g", { risk: "enrols" })]),
    result("h", [advice("kubectl patch g")]),
    result("i", [advice("kubectl apply --server-side --force-conflicts -f -")]),
    result("j", [advice("kubectl get job/j -o yaml | kubectl replace --force -f -")]),
    result("f", [LOOK]),
  ]);
  assert.deepEqual(found.map(({ advice: { commands }, isRisky }) => [...commands, isRisky]), [
    ["kubectl patch a", true],
    ["kubectl delete b", true],
    ["kubectl delete c", true],
    ["kubectl patch g", true],
    ["kubectl apply --server-side --force-conflicts -f -", false],
    ["kubectl get job/j -o yaml | kubectl replace --force -f -", true],
  ]);
});

function repair(name: string, isRisky = false, forbidden: readonly string[] = []): Repair {
  return { id: name, title: name, objects: [], advice: advice(`kubectl ${name}`, { forbidden }), isRisky };
}

const REPAIRS = [repair("a"), repair("b", true), repair("c"), repair("d", false, ["patch pods"])];

/** Returns the commands that run after these answers. */
async function ran(answers: string, yes = false, code = 0) {
  const world = fakeWorld({
    stdin: answers,
    run: () => ({ code, stdout: "", stderr: code === 0 ? "" : "no", timedOut: false }),
  });
  const count = await applied(world, REPAIRS, { yes, clusterFlags: ["--context=a b"] });
  const scripts = world.runs.map(({ args = [] }) => args[1] ?? "");
  for (const script of scripts) {
    assert.match(script, /^set -e\nkubectl\(\) \{.* command kubectl '--context=a b' "\$@"; fi; \}\n/);
  }
  return { commands: scripts.map((script) => script.split("\n").at(-1)), said: world.said.stderr, count };
}

const ANSWERS: readonly (readonly [answers: string, yes: boolean, commands: readonly string[]])[] = [
  ["y\ny\nyes\n", false, ["kubectl a", "kubectl b", "kubectl c"]],
  ["n\nNo\n\nwhat\nY\n", false, ["kubectl c"]],
  ["a\ny\n", false, ["kubectl a", "kubectl b", "kubectl c"]],
  ["all\nn\n", false, ["kubectl a", "kubectl c"]],
  ["n\na\nn\n", false, ["kubectl c"]],
  ["y\na\nq\n", false, ["kubectl a"]],
  ["y\nq\n", false, ["kubectl a"]],
  ["", false, []],
  ["", true, ["kubectl a", "kubectl c"]],
];

for (const [answers, yes, commands] of ANSWERS) {
  Deno.test(`applied() runs what is answered with yes: ${JSON.stringify(answers)}${yes ? " --yes" : ""}`, async () => {
    const found = await ran(answers, yes);
    assert.deepEqual([found.commands, found.count], [commands, commands.length]);
  });
}

Deno.test("applied() names forbidden repairs before it asks, and does not run risky ones with --yes", async () => {
  const { said } = await ran("", true);
  assert.match(
    said,
    /\[3\/4\] b: run kubectl b\n {2}risk: .*\n {4}kubectl b\n {2}not run: --yes does not run risky repairs/,
  );
  assert.match(
    said,
    /^\n\[1\/4\] d: .*\n {4}kubectl d\n {2}not run: you may not patch pods: ask an administrator\n\n\[2\/4\] a/,
  );
  assert.match(said, /\n\n2 of 4 repairs succeeded; checking again\n$/);
});

Deno.test("applied() breaks long lines at a terminal, but no command", async () => {
  const world = fakeWorld({ terminal: true, env: { COLUMNS: "60" }, stdin: "" });
  const command = `kubectl delete ${"x".repeat(60)}`;
  await applied(world, [{ ...repair("a", true), advice: advice(command, { change: "run it ".repeat(12) }) }], {
    yes: false,
    clusterFlags: [],
  });
  const lines = world.said.stderr.split("\n");
  assert.deepEqual(lines.filter((line) => line.length > 60), [`    ${command}`]);
});

Deno.test("applied() prints the error of a command, and goes on", async () => {
  const { said, count, commands } = await ran("y\ny\ny\n", false, 3);
  assert.deepEqual([count, commands.length], [0, 3]);
  assert.match(said, /kubectl a\nRun it\?.* {2}no\n {2}error: the command exited with 3\n/);
  assert.match(said, /\n0 of 4 repairs succeeded\n$/);
});

Deno.test("applied() does not run helm against another cluster than the one that was checked", async () => {
  const helm = "helm get manifest istiod -n istio-system | kubectl apply -f -";
  const repairs = [{ ...repair("a"), advice: advice(helm) }];
  for (const [clusterFlags, count] of [[["--context=other", "--token=secret"], 0], [[], 1]] as const) {
    const world = fakeWorld({ stdin: "y\n", run: () => ({ code: 0, stdout: "", stderr: "", timedOut: false }) });
    assert.equal(await applied(world, repairs, { yes: false, clusterFlags }), count);
    assert.equal(world.runs.length, count);
    assert.equal(
      /not run: helm would .* run check --fix without --context --token\n/.test(world.said.stderr),
      count === 0,
    );
  }
});
