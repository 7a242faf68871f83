import assert from "node:assert/strict";
import { ClosedPipeError, MeshError, UsageError } from "../base/errors.ts";
import { fakeWorld } from "../../test/support/fake_world.ts";
import { failingWithTwo, reportFailure, say } from "./failure.ts";

function said(error: unknown, env: Record<string, string> = {}): [number, string] {
  const world = fakeWorld({ env });
  return [reportFailure(world, error), world.said.stderr];
}

Deno.test("reportFailure() shows a user's error in one line with its place and what to do", () => {
  const place = { file: "a.yaml", document: 2, line: 14, field: "spec.replicas" };
  assert.deepEqual(said(new MeshError("Want a number", { place, hint: "remove the quotes" })), [
    1,
    "error: a.yaml: document 2, line 14: spec.replicas: Want a number; remove the quotes\n",
  ]);
});

Deno.test("reportFailure() shows the source line below the error at a terminal, elsewhere one line", () => {
  const error = new MeshError("A tab", { place: { line: 1, snippet: "\tx: y\n^" } });
  assert.deepEqual(said(error), [1, "error: line 1: A tab\n"]);
  const world = fakeWorld({ terminal: true });
  reportFailure(world, error);
  assert.equal(world.said.stderr, "error: line 1: A tab\n  \tx: y\n  ^\n");
});

Deno.test("reportFailure() shows the lines below the error", () => {
  const error = new UsageError("-p: x", { hint: "see --help", rest: ["-b: y", "-i: z"] });
  assert.deepEqual(said(error), [2, "error: -p: x; see --help\n  -b: y\n  -i: z\n"]);
});

Deno.test("reportFailure() keeps the exit code where standard error cannot be written to", () => {
  const world = fakeWorld();
  const full = { isTerminal: false, columns: undefined, rows: undefined, write: () => assert.fail("no space") };
  assert.equal(reportFailure({ ...world, stderr: full }, new UsageError("x")), 2);
});

Deno.test("reportFailure() prints an error of several lines on one line", () => {
  assert.deepEqual(said(new UsageError("First\n  second")), [2, "error: First; second\n"]);
});

Deno.test("reportFailure() says nothing of a closed pipe, and has the code of SIGPIPE", () => {
  assert.deepEqual(said(new ClosedPipeError("x")), [141, ""]);
});

Deno.test("reportFailure() calls any other error a defect, with its stack only in debug", () => {
  const error = new TypeError("boom");
  assert.deepEqual(said(error), [1, "error: Unexpected failure of this program: boom; please report it\n"]);
  assert.match(said(error, { MESH_LOG_LEVEL: "debug" })[1], /failure_test\.ts/);
});

Deno.test("reportFailure() reports an exhausted resource, and does not call it a defect", () => {
  const text =
    "error: Cannot continue: this process has too many open files; raise the limit of open files (ulimit -n)\n";
  assert.deepEqual(said(new Error("Too many open files (os error 24)")), [1, text]);
});

Deno.test("reportFailure() breaks a long error between words at a terminal, and keeps quoted text whole", () => {
  const world = fakeWorld({ terminal: true });
  const narrow = { ...world, stderr: { ...world.stderr, columns: 40 } };
  reportFailure(narrow, new UsageError('There is no such thing here, please see "kubectl mesh --help"'));
  assert.equal(world.said.stderr, 'error: There is no such thing here,\n  please see "kubectl mesh --help"\n');
});

Deno.test("reportFailure() puts a command that does not fit on a line of its own, because people copy it", () => {
  const world = fakeWorld({ terminal: true });
  const narrow = { ...world, stderr: { ...world.stderr, columns: 42 } };
  reportFailure(
    narrow,
    new MeshError("Nothing is captured", { hint: "apply rules: kubectl mesh iptables apply -b 80" }),
  );
  assert.equal(
    world.said.stderr,
    "error: Nothing is captured; apply rules:\n  kubectl mesh iptables apply -b 80\n",
  );
});

Deno.test("say() wraps long sentences at a terminal, but not JSON and not lines below an error", () => {
  const world = fakeWorld({ terminal: true });
  const narrow = { ...world, stderr: { ...world.stderr, columns: 20 } };
  say(narrow, "pod/a skipped: pod uses the host network", '{"a": "long line of JSON"}', "  the line of a source");
  const expected =
    'pod/a skipped: pod\n  uses the host\n  network\n{"a": "long line of JSON"}\n  the line of a source\n';
  assert.equal(world.said.stderr, expected);
});

Deno.test("say() keeps each line one line, which acts neither on a terminal nor on a CI system", () => {
  for (const terminal of [true, false]) {
    const world = fakeWorld({ terminal });
    say(world, "pod/a\nerror: forged\tb", "\x1b[31mred\u202e", "::error::forged");
    assert.equal(
      world.said.stderr,
      "pod/a\\u000aerror: forged\tb\n\\u001b[31mred\\u202e\n\\u003a:error::forged\n",
    );
  }
});

const FAILURES: readonly (readonly [string, unknown, number])[] = [
  ["a user's error", new MeshError("x"), 2],
  ["a wrong command line", new UsageError("x"), 2],
  ["too many open files", new Error("Too many open files (os error 24)"), 2],
  ["a defect of the program", new TypeError("x"), 2],
  ["a closed pipe", new ClosedPipeError("x"), 141],
  ["an interruption", new MeshError("x", { exitCode: 130 }), 130],
];

for (const [name, error, code] of FAILURES) {
  Deno.test(`a comparison that fails with ${name} ends with ${code}`, async () => {
    assert.equal(await failingWithTwo(fakeWorld(), () => Promise.reject(error)), code);
  });
}

Deno.test("a comparison that fails says why", async () => {
  const world = fakeWorld();
  await failingWithTwo(world, () => Promise.reject(new MeshError("No file", { hint: "name one" })));
  assert.equal(world.said.stderr, "error: No file; name one\n");
});

Deno.test("the exit code of a comparison that does not fail stays", async () => {
  assert.equal(await failingWithTwo(fakeWorld(), () => Promise.resolve(1)), 1);
});
