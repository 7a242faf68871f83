import assert from "node:assert/strict";
import { CHECK_RESULTS, type CheckResult } from "../result_schema.ts";
import { jsonText } from "./json.ts";
import { tableText } from "./table.ts";

function result(id: string, rest: Partial<CheckResult>): CheckResult {
  return { id, category: "webhook", title: `${id} is well`, result: "ok", message: "", hint: "", objects: [], ...rest };
}

const ESCAPE = String.fromCharCode(27);
const hint = (id: string) => `see docs/checks.md#${id}`;

const RESULTS: readonly CheckResult[] = [
  result("version", { category: "kubernetes-api", message: "v1.34.1" }),
  result("exists", {}),
  result("policy", { result: "warning", message: "first line\nsecond line", hint: hint("policy") }),
  result("service", { result: "error", message: "there is none", hint: hint("service"), objects: ["service/a/b"] }),
  result("endpoints", { result: "skipped", message: 'it needs "service"' }),
  result("secret", { result: "unknown", message: "cannot tell: needs get on secrets", hint: hint("secret") }),
];

Deno.test("a dumb terminal gets ASCII marks", () => {
  const text = tableText(RESULTS, { color: false, ascii: true, short: false, failOn: "error" });
  assert.match(text, /^\+ exists is well$/m);
  assert.match(text, /^! policy is well$/m);
  assert.match(text, /^x service is well$/m);
  assert.match(text, /Status check results are x\n$/);
  // deno-lint-ignore no-control-regex -- all that is not ASCII
  assert.doesNotMatch(text, /[^\u0000-\u007f]/);
});

Deno.test("text from the cluster does not control the terminal", () => {
  const message = `policy "${ESCAPE}[2J\r\u009b"\nsecond`;
  const look = { color: false, short: false, failOn: "error" } as const;
  const text = tableText([result("policy", { result: "error", message }), result("a", { message })], look);
  // deno-lint-ignore no-control-regex -- those are what must not be there
  assert.doesNotMatch(text.replaceAll("\n", ""), /[\u0000-\u001f\u007f-\u009f]/);
  assert.match(text, /\n {4}second\n/);
});

Deno.test("the table has a line for each check, and problems below it", () => {
  assert.equal(
    tableText(RESULTS, { color: false, short: false, failOn: "error" }),
    `kubernetes-api
--------------
√ version is well: v1.34.1

webhook
-------
√ exists is well
‼ policy is well
    first line
    second line
    see docs/checks.md#policy
× service is well
    there is none
    see docs/checks.md#service
- endpoints is well: it needs "service"
? secret is well
    cannot tell: needs get on secrets
    see docs/checks.md#secret

Status check results are ×
`,
  );
});

Deno.test("the short form omits passed checks and empty categories", () => {
  const text = tableText(RESULTS, { color: false, short: true, failOn: "error" });
  assert.match(text, /^webhook\n-------\n‼ policy/);
  assert.doesNotMatch(text, /√|^- /m);
  const well = RESULTS.slice(0, 2);
  assert.equal(
    tableText(well, { color: false, short: true, failOn: "error" }),
    "Status check results are √\n",
  );
});

Deno.test("summary line and success agree with the exit code", () => {
  const warned = RESULTS.filter(({ result }) => result !== "error");
  const lastLine = (failOn: "warning" | "error") =>
    tableText(warned, { color: false, short: true, failOn }).trimEnd().split("\n").at(-1);
  assert.equal(lastLine("error"), "Status check results are √");
  assert.equal(lastLine("warning"), "Status check results are ×");
  assert.equal(JSON.parse(jsonText(warned, "error")).success, true);
  assert.equal(JSON.parse(jsonText(warned, "warning")).success, false);
});

Deno.test("the text has colour only on request", () => {
  const colored = tableText(RESULTS, { color: true, short: false, failOn: "error" });
  assert(colored.includes(`${ESCAPE}[31m×${ESCAPE}[39m service is well`));
  assert.equal(
    colored.replaceAll(new RegExp(`${ESCAPE}\\[\\d+m`, "g"), ""),
    tableText(RESULTS, { color: false, short: false, failOn: "error" }),
  );
});

Deno.test("JSON has every field of every check", () => {
  const { success, checks } = CHECK_RESULTS.parse(JSON.parse(jsonText(RESULTS, "error")));
  assert.equal(success, false);
  assert.deepEqual(checks, RESULTS);
});
