import assert from "node:assert/strict";
import type { FlowResult } from "./flows.ts";
import { VERIFICATION } from "./report_schema.ts";
import { resultJson, resultLine, resultTable } from "./report.ts";
import { blame } from "./run.ts";

const RESULT: FlowResult = {
  flow: { kind: "outbound", family: 4, targets: [], port: 15001, owner: { uid: 1000, gid: undefined } },
  target: { address: { family: 4, value: 0xc0000201n, zone: "" }, port: 15002 },
  outcome: "proved",
  reason: "a random token came back from the capture port",
};
const UNKNOWN: FlowResult = { ...RESULT, target: undefined, outcome: "not provable", reason: "no address" };

Deno.test("resultTable() has a line for each flow", () => {
  assert.deepEqual(resultTable([RESULT, UNKNOWN], Infinity).split("\n"), [
    "FLOW      FAMILY  TO               PORT   RESULT        WHY",
    "outbound  IPv4    192.0.2.1:15002  15001  proved        a random token came back from the capture port",
    "outbound  IPv4    -                15001  not provable  no address",
    "",
  ]);
});

Deno.test("resultJson() has the same results", () => {
  const { proved, flows } = VERIFICATION.parse(JSON.parse(resultJson([RESULT, UNKNOWN], true)));
  assert.equal(proved, true);
  assert.deepEqual(flows.map(({ target }) => target), ["192.0.2.1:15002", null]);
  assert.deepEqual(flows[0], {
    flow: "outbound",
    family: "IPv4",
    target: "192.0.2.1:15002",
    port: 15001,
    result: "proved",
    reason: "a random token came back from the capture port",
  });
});

Deno.test("resultLine() names flow and target", () => {
  assert.equal(resultLine(RESULT), "IPv4 outbound to 192.0.2.1:15002: a random token came back from the capture port");
});

Deno.test("blame(): differences, unreadable rules, and rules as planned", () => {
  const rules = Array.from({ length: 8 }, (_, at) => `rule ${at}`);
  const lines = rules.slice(0, 6).map((rule) => `not as planned: ${rule}`);
  assert.deepEqual(blame(rules, []), [...lines, "and 2 more"]);
  assert.match(blame(undefined, ["-A X"]).join("|"), /^the rules cannot be read without .*: -A X$/);
  assert.match(blame([], ["-A X"]).join("|"), /^all rules are as planned, .*: -A X$/);
});
