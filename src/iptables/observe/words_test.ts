import assert from "node:assert/strict";
import { type Expression, expression, META, REGISTER, VERDICT } from "../kernel/netfilter/expressions.ts";
import type { KernelRule, KernelTable } from "../kernel/netfilter/ruleset.ts";
import type { Step } from "./message.ts";
import { pathOf } from "./words.ts";

function rule(handle: number, ...expressions: Expression[]): KernelRule {
  return { handle: Uint8Array.of(0, 0, 0, 0, 0, 0, 0, handle), expressions, userData: undefined };
}

const TO_15001 = [
  expression("immediate", { register: REGISTER, data: Uint8Array.of(0x3a, 0x99) }),
  expression("redir", { first: REGISTER }),
];
const PROXY = [
  expression("meta", { key: META.skuid, register: REGISTER }),
  expression("cmp", { source: REGISTER, operator: 0, data: Uint8Array.of(0x39, 5, 0, 0) }),
  expression("immediate", { register: 0, data: { code: VERDICT.return } }),
];
const chain = (...rules: KernelRule[]) => ({ base: undefined, accepts: true, rules });
const TABLE: KernelTable = {
  uses: 2,
  chains: new Map([["output", chain(rule(4), rule(5, ...PROXY))], ["istio-redirect", chain(rule(6, ...TO_15001))]]),
};
const RULESET = { tables: new Map([["inet istio-proxy-nat", TABLE]]) };

function step(chain: string, handle: number, code: number, more: Partial<Step> = {}): Step {
  const { handle: bytes } = rule(handle);
  return {
    id: 1,
    table: "inet istio-proxy-nat",
    chain,
    type: "rule",
    handle: bytes,
    code,
    target: undefined,
    ends: "",
    ...more,
  };
}

Deno.test("a redirection is the end of the path, with the rules before it", () => {
  const { lines, ending } = pathOf(RULESET, [
    step("trace", 1, -1, { table: "inet kubectl-mesh-trace" }),
    step("output", 4, VERDICT.jump, { target: "istio-redirect" }),
    step("istio-redirect", 6, VERDICT.accept),
    step("istio-redirect", 99, -1),
  ]);
  assert.deepEqual(lines, [
    "inet istio-proxy-nat output, rule 1: goes to istio-redirect",
    "inet istio-proxy-nat istio-redirect, rule 1: redirected to port 15001   (redirect to :15001)",
  ]);
  assert.deepEqual(ending, { text: "it is redirected to port 15001", port: 15001 });
});

Deno.test("a rule that returns redirects nothing", () => {
  const { lines, ending } = pathOf(RULESET, [step("output", 5, VERDICT.return)]);
  assert.deepEqual(lines, ["inet istio-proxy-nat output, rule 2: returns   (skuid 1337 return)"]);
  assert.deepEqual(ending, { text: "no rule redirects it", port: undefined });
});

Deno.test("a dropped packet says where, also by the policy of a chain and by a deleted rule", () => {
  for (
    const [last, line] of [
      [step("output", 77, VERDICT.drop), "inet istio-proxy-nat output, a deleted rule: dropped"],
      [step("output", 0, VERDICT.drop, { type: "policy", handle: undefined }), "inet istio-proxy-nat output: dropped"],
    ] as const
  ) {
    assert.deepEqual(pathOf(RULESET, [last]), { lines: [line], ending: { text: "it is dropped", port: undefined } });
  }
});
