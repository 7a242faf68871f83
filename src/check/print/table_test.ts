import assert from "node:assert/strict";
import type { FailOn } from "../result.ts";
import { CHECK_RESULTS, type CheckResult } from "../result_schema.ts";
import { parseYaml } from "../../yaml/mod.ts";
import { jsonText, yamlText } from "./json.ts";
import { tableText } from "./table.ts";

function result(id: string, rest: Partial<CheckResult>): CheckResult {
  return {
    id,
    category: "webhook",
    title: `${id} is well`,
    result: "ok",
    message: "",
    becauseOf: "",
    fixes: [],
    hint: "",
    missingRight: "",
    objects: [],
    ...rest,
  };
}

const ESCAPE = String.fromCharCode(27);
const hint = (id: string) => `see "kubectl mesh check --explain ${id}"`;

const RESULTS: readonly CheckResult[] = [
  result("version", { category: "kubernetes-api", message: "v1.34.1" }),
  result("exists", {}),
  result("policy", { result: "warning", message: "first line\nsecond line", hint: hint("policy") }),
  result("service", {
    result: "error",
    message: `there is none, and ${"words ".repeat(12)}with "a quoted name of words"`,
    fixes: [{
      objects: ["service/a/b"],
      alternatives: [{
        change: "make it",
        scope: "mesh",
        risk: "none",
        commands: [`kubectl apply ${"x".repeat(90)}`],
        needs: ["create services"],
        forbidden: ["create services"],
      }],
    }],
    hint: hint("service"),
    objects: ["service/a/b"],
  }),
  result("endpoints", { result: "skipped", message: 'it needs "service"' }),
  result("secret", {
    result: "unknown",
    message: "cannot tell: needs get on secrets",
    missingRight: "get on secrets",
    hint: hint("secret"),
  }),
];

Deno.test("a dumb terminal gets ASCII marks", () => {
  const text = tableText(RESULTS, { color: false, ascii: true, short: false, width: 80, failOn: "error" });
  assert.match(text, /^\+ exists is well$/m);
  assert.match(text, /^! policy is well$/m);
  assert.match(text, /^x service is well$/m);
  assert.match(text, /Status check results are x: 2 ok, .*\n$/);
  // deno-lint-ignore no-control-regex -- all that is not ASCII
  assert.doesNotMatch(text, /[^\u0000-\u007f]/);
});

Deno.test("text from the cluster does not control the terminal", () => {
  const message = `policy "${ESCAPE}[2J\r\u009b"\nsecond`;
  const look = { color: false, short: false, width: 80, failOn: "error" } as const;
  const text = tableText([result("policy", { result: "error", message }), result("a", { message })], look);
  // deno-lint-ignore no-control-regex -- matches the control characters that the text must not contain
  assert.doesNotMatch(text.replaceAll("\n", ""), /[\u0000-\u001f\u007f-\u009f]/);
  assert.match(text, /\n {4}second\n/);
});

Deno.test("the table has a line for each check, and problems below it", () => {
  assert.equal(
    tableText(RESULTS, { color: false, short: false, width: 80, failOn: "error" }),
    `kubernetes-api
--------------
√ version is well: v1.34.1

webhook
-------
√ exists is well
‼ policy is well
    first line
    second line
    see "kubectl mesh check --explain policy"
× service is well
    there is none, and words words words words words words words words words
      words words words with "a quoted name of words"
    fix: make it:
      kubectl apply ${"x".repeat(90)}
    you may not create services: ask an administrator
    see "kubectl mesh check --explain service"
- endpoints is well: it needs "service"

not checked
-----------
? 1 check needs the right "get secrets": secret

1 check could not run: "kubectl mesh check --rbac" prints the needed rights
Status check results are ×: 2 ok, 1 warning, 1 error, 1 unknown, 1 skipped
`,
  );
});

Deno.test("results that are unknown for one missing right are one line, which names a few checks; wide names all", () => {
  const hidden = ["a", "b", "c", "d"].map((id) => result(id, { result: "unknown", missingRight: "list on pods" }));
  const look = { color: false, short: true, failOn: "error" } as const;
  const text = tableText(hidden, { ...look, width: 80 });
  assert.match(text, /^not checked\n-+\n\? 4 checks need the right "list pods"\n\n4 checks could not run/);
  assert.match(
    tableText(hidden, { ...look, width: undefined }),
    /\n\? 4 checks need the right "list pods": a, b, c, d\n/,
  );
});

Deno.test("a missing right in a namespace has no nested quotes", () => {
  const missingRight = 'list on pods in the namespace "kube-system"';
  const hidden = [result("a", { result: "unknown", missingRight })];
  const text = tableText(hidden, { color: false, short: true, failOn: "error", width: 80 });
  assert.match(text, /\n\? 1 check needs the right "list pods" in the namespace "kube-system": a\n/);
});

Deno.test("a consequence names its cause; its fixes are in wide output", () => {
  const fixes = RESULTS.flatMap((each) => each.fixes);
  const other = result("ready", { result: "error", message: "no pod", becauseOf: "service", fixes });
  const look = { color: false, short: true, failOn: "error" } as const;
  const text = tableText([other], { ...look, width: 80 });
  assert.match(text, /\n× ready is well\n {4}because of "service": no pod\n\nStatus/);
  assert.match(tableText([other], { ...look, width: undefined }), /because of "service": no pod\n {4}fix: make it:\n/);
});

Deno.test("rights are named only where one is missing", () => {
  const look = { color: false, short: false, failOn: "error", width: 80 } as const;
  const hidden = result("admission", { result: "unknown", message: "cannot tell: the policy needs a look" });
  assert.match(tableText([hidden], look), /\n1 check could not run\nStatus/);
  const both = [
    hidden,
    result("secret", { result: "unknown", message: "cannot tell", missingRight: "get on secrets" }),
  ];
  assert.match(
    tableText(both, look),
    /\n2 checks could not run: "kubectl mesh check --rbac" prints the needed rights\n/,
  );
});

Deno.test("wide: no line is broken, and every object is named", () => {
  const objects = ["pod/shop/a", "pod/shop/b", "pod/shop/c"];
  const message = `pod/shop/a: ${"odd ".repeat(40)}end`;
  const text = tableText([result("pods", { result: "error", message, objects })], {
    color: false,
    short: false,
    failOn: "error",
    width: undefined,
  });
  assert(text.includes(`    ${message}\n    all others: pod/shop/b, pod/shop/c\n`), text);
});

Deno.test('wide: objects are listed without "other" if the message names none', () => {
  const look = { color: false, short: false, failOn: "error", width: undefined } as const;
  const text = (objects: readonly string[]) =>
    tableText([result("pods", { result: "error", message: "odd", objects })], look);
  assert.match(text(["pod/a"]), /\n {4}odd\n {4}object: pod\/a\n/);
  assert.match(text(["pod/a", "pod/b"]), /\n {4}odd\n {4}objects: pod\/a, pod\/b\n/);
});

Deno.test("titles and the summary fit a narrow terminal", () => {
  const title = "a long title of a check that does not fit on one line of it";
  const look = { color: false, short: false, failOn: "error", width: 60 } as const;
  const results = [result("odd", { title, result: "unknown", message: "cannot tell", missingRight: "list pods" })];
  const text = tableText([...results, result("bad", { title, result: "error", message: "bad" })], look);
  assert(text.split("\n").every((line) => line.length <= 60), text);
  assert.match(text, /\n× a long title of a check that does not fit on one line of\n {4}it\n/);
  assert.match(text, /\nStatus check results are ×: .*, 1\n {2}unknown, 0 skipped\n$/);
  const last = "Status check results are ?: 0 ok, 0 warnings, 0 errors, 1 unknown, 0 skipped\n";
  assert(tableText(results, { ...look, width: last.length - 1 }).endsWith(`\n${last}`), "it fits, so it is one line");
});

Deno.test("a long list behind a passed check is broken too", () => {
  const message = Array.from({ length: 12 }, (_, index) => `istio-sidecar-injector-${index}`).join(", ");
  const look = { color: false, short: false, failOn: "error", width: 80 } as const;
  const lines = tableText([result("exists", { message })], look).split("\n");
  assert(lines.every((line) => line.length <= 80), lines.join("\n"));
  assert.match(lines[3] ?? "", /^ {4}istio-sidecar-injector-/);
});

Deno.test("the short form omits passed checks and empty categories", () => {
  const text = tableText(RESULTS, { color: false, short: true, width: 80, failOn: "error" });
  assert.match(text, /^webhook\n-------\n‼ policy/);
  assert.doesNotMatch(text, /√|^- /m);
  const well = RESULTS.slice(0, 2);
  assert.equal(
    tableText(well, { color: false, short: true, width: 80, failOn: "error" }),
    "Status check results are √: 2 ok, 0 warnings, 0 errors, 0 unknown, 0 skipped\n",
  );
});

Deno.test("summary line and success agree with the exit code", () => {
  const warned = RESULTS.filter(({ result }) => result !== "error");
  const known = warned.filter(({ result }) => result !== "unknown");
  const hidden = warned.filter(({ result }) => result === "unknown");
  const rows: readonly (readonly [of: readonly CheckResult[], failOn: FailOn, mark: string, success: boolean])[] = [
    [known, "error", "√: 2 ok, 1 warning, 0 errors, 0 unknown, 1 skipped", true],
    [known, "warning", "×", false],
    [warned, "error", "?: 2 ok, 1 warning, 0 errors, 1 unknown, 1 skipped", true],
    [warned, "unknown", "×", false],
    [hidden, "error", "?: 0 ok, 0 warnings, 0 errors, 1 unknown, 0 skipped", false],
  ];
  for (const [results, failOn, mark, success] of rows) {
    const last = tableText(results, { color: false, short: true, width: 80, failOn }).trimEnd().split("\n").at(-1) ??
      "";
    assert(last.startsWith(`Status check results are ${mark}`), last);
    const { success: found, unknown } = CHECK_RESULTS.parse(JSON.parse(jsonText(results, failOn)));
    assert.deepEqual([found, unknown], [success, results.filter(({ result }) => result === "unknown").length]);
  }
});

Deno.test("the text has colour only on request", () => {
  const colored = tableText(RESULTS, { color: true, short: false, width: 80, failOn: "error" });
  assert(colored.includes(`${ESCAPE}[31m×${ESCAPE}[39m service is well`));
  assert.equal(
    colored.replaceAll(new RegExp(`${ESCAPE}\\[\\d+m`, "g"), ""),
    tableText(RESULTS, { color: false, short: false, width: 80, failOn: "error" }),
  );
});

Deno.test("YAML is the same document", () => {
  const document = CHECK_RESULTS.parse(parseYaml(yamlText(RESULTS, "error"), "out.yaml"));
  assert.deepEqual(document, JSON.parse(jsonText(RESULTS, "error")));
});

Deno.test("JSON has every field of every check", () => {
  const { success, checks } = CHECK_RESULTS.parse(JSON.parse(jsonText(RESULTS, "error")));
  assert.equal(success, false);
  assert.deepEqual(checks, RESULTS);
});

/** Returns a cause, results that follow from this cause, and other results. */
function brokenCluster(count: number): readonly CheckResult[] {
  const cause = result("webhook-service", { result: "error", message: "there is none", hint: hint("webhook-service") });
  const consequences = Array.from({ length: count }, (_, at) => {
    const becauseOf = at === 0 ? "webhook-service" : "from-0";
    return result(`from-${at}`, { result: at % 2 === 0 ? "error" : "warning", message: "no pod", becauseOf });
  });
  const others = Array.from(
    { length: count },
    (_, at) =>
      result(`other-${at}`, { result: at === 0 ? "unknown" : "warning", category: "security", message: "bad" }),
  );
  return [result("version", {}), cause, ...consequences, ...others];
}

Deno.test("the short form of a broken cluster fits the screen: the cause, counts of the rest, and the summary", () => {
  const look = { color: false, short: true, failOn: "error", width: 80, rows: 24 } as const;
  const text = tableText(brokenCluster(8), look);
  assert.equal(
    text,
    `webhook
-------
× webhook-service is well
    there is none
    see "kubectl mesh check --explain webhook-service"

consequences
------------
× 4 errors: from-0, from-2, from-4, from-6
‼ 4 warnings: from-1, from-3, from-5, from-7

other problems
--------------
‼ 7 warnings: other-1, other-2, other-3, other-4 and 3 more
? 1 unknown: other-0

"-o wide" shows all results
1 check could not run
Status check results are ×: 1 ok, 11 warnings, 5 errors, 1 unknown, 0 skipped
`,
  );
  assert(text.split("\n").length <= look.rows);
  assert(tableText(brokenCluster(8), { ...look, rows: 100 }).includes("from-7 is well\n"), "a large screen has all");
  assert(tableText(brokenCluster(8), { ...look, short: false }).includes("from-7 is well\n"), "and so has the table");
});

Deno.test("the long message of a cause is cut on a small screen", () => {
  const message = Array.from({ length: 40 }, (_, at) => `line ${at}`).join("\n");
  const cause = result("service", { result: "error", message });
  const text = tableText([cause], { color: false, short: true, failOn: "error", width: 80, rows: 24 });
  assert.match(text, /\n {4}line 15\n {4}\.\.\.\n\n"-o wide" shows all results\n/);
  const long = brokenCluster(8).map((each) => each.id === "webhook-service" ? { ...each, message } : each);
  const full = tableText(long, { color: false, short: true, failOn: "error", width: 80, rows: 24 });
  assert.equal(full.split("\n").length, 24, "the counts have their place, and the rest is the cause's");
});
