import assert from "node:assert/strict";
import { fakeWorld } from "../../../../test/support/fake_world.ts";
import { attributesOf, encode, textOf } from "../netlink.ts";
import { COUNTER, VERDICT, verdict } from "./expressions.ts";
import { type KernelChain, type KernelRule, MESSAGE, RULE, type Ruleset } from "./ruleset.ts";
import { changeRuleset, type NewRule, type TableChange } from "./transaction.ts";

const NAMES = new Map<number, string>(Object.entries(MESSAGE).map(([name, type]) => [type, name]));

function rule(handle: number): KernelRule {
  return { handle: Uint8Array.of(0, 0, 0, 0, 0, 0, 0, handle), expressions: [COUNTER], userData: undefined };
}

function newRule(text: string): NewRule {
  return { expressions: [COUNTER, verdict(VERDICT.accept)], userData: undefined, text };
}

function chain(rules: readonly KernelRule[], base = true): KernelChain {
  return { base: base ? { type: "nat", hook: 0, priority: -100 } : undefined, accepts: true, rules };
}

/** The messages of a change: name, chain, handle, and the rule before which a new one goes. */
function messages(chains: Record<string, KernelChain>, change: Partial<TableChange>, uses?: number): string[] {
  const table = { chains: new Map(Object.entries(chains)), uses: uses ?? Object.keys(chains).length };
  const held: Ruleset = { generation: 1, tables: new Map([["ip nat", table]]) };
  const sent: Uint8Array[] = [];
  const { system } = fakeWorld({
    system: {
      netlink: (_protocol, message) => {
        sent.push(message);
        return encode({ protocol: 12, type: 2, flags: 0, header: new Uint8Array(20) });
      },
    },
  });
  changeRuleset(system, held, [{ table: "ip nat", isReplaced: false, chains: [], deleted: [], ...change }]);
  return sent.flatMap(namesIn);
}

function namesIn(batch: Uint8Array): string[] {
  const view = new DataView(batch.buffer, batch.byteOffset);
  const names: string[] = [];
  for (let at = 0; at < batch.length; at += view.getUint32(at, true)) {
    const attributes = attributesOf(batch.subarray(at + 20, at + view.getUint32(at, true)));
    const name = NAMES.get(view.getUint16(at + 4, true));
    const isRule = name === "newRule" || name === "deleteRule";
    const at8 = (type: number) => attributes.get(type)?.at(7);
    const place = isRule ? [textOf(attributes.get(RULE.chain)), at8(RULE.handle), at8(RULE.position)] : [];
    if (name !== undefined) names.push([name, ...place.filter((part) => part !== undefined)].join(" "));
  }
  return names;
}

Deno.test("changeRuleset: new rules go before the next rule that stays, else to the end", () => {
  const [first, second] = [rule(1), rule(2)];
  const rules = [newRule("a"), newRule("b"), second, newRule("c")];
  assert.deepEqual(
    messages({ PREROUTING: chain([first, second]) }, { chains: [{ name: "PREROUTING", base: undefined, rules }] }),
    ["deleteRule PREROUTING 1", "newRule PREROUTING 2", "newRule PREROUTING 2", "newRule PREROUTING"],
  );
});

Deno.test("changeRuleset: a table without rules is deleted, unless it has other objects", () => {
  const chains = { PREROUTING: chain([rule(1)]), ISTIO_X: chain([rule(2)], false) };
  const change = { chains: [{ name: "PREROUTING", base: undefined, rules: [] }], deleted: ["ISTIO_X"] };
  const all = ["deleteRule ISTIO_X 2", "deleteRule PREROUTING 1", "deleteChain"];
  assert.deepEqual(messages(chains, change), [...all, "deleteTable"]);
  assert.deepEqual(messages(chains, change, 3), all);
  assert.deepEqual(messages({ ...chains, OUTPUT: chain([rule(3)]) }, change), all);
  assert.deepEqual(messages({ ...chains, other: chain([], false) }, change), all);
});

Deno.test("changeRuleset: a replaced table is deleted first, and nothing is sent without a change", () => {
  const chains = [{ name: "x", base: undefined, rules: [newRule("a")] }];
  assert.deepEqual(
    messages({ x: chain([rule(1)], false) }, { isReplaced: true, chains }),
    ["deleteTable", "newTable", "newChain", "newRule x"],
  );
  assert.deepEqual(messages({ x: chain([rule(1)], false) }, {}), []);
});
