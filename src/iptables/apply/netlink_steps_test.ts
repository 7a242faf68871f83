/** Recorded from `nft --debug=mnl -f` 1.0.6: type and attributes of each message. */
import assert from "node:assert/strict";
import { fakeWorld } from "../../../test/support/fake_world.ts";
import { heldTables, wantedRule } from "../kernel/nftables/content.ts";
import { expressionAttribute, expressionsOf } from "../kernel/netfilter/expressions.ts";
import { attributeBytes, attributeList, attributesOf, encode, textOf } from "../kernel/netlink.ts";
import { MESSAGE, RULE, type Ruleset } from "../kernel/netfilter/ruleset.ts";
import { RefusedRule, RulesetChanged } from "../kernel/netfilter/transaction.ts";
import { makePlan } from "../plan/plan.ts";
import { readSettings } from "../settings/read.ts";
import { nftChain } from "../views/nft.ts";
import { plannedChains } from "../kernel/xtables/transaction.ts";
import { netlinkSteps } from "./netlink_steps.ts";
import { nativeDifferences } from "./nft_steps.ts";
import type { Survey } from "./survey.ts";
import recorded from "./testdata/nft.json" with { type: "json" };

const NAMES = { users: new Map<string, number>(), groups: new Map<string, number>() };
const NOTHING: Ruleset = { generation: 7, tables: new Map() };
const EMPTY: Survey = { ruleset: NOTHING, holdings: [], legacyRules: 0 };

/** A kernel that records what is sent, and answers with an error number. */
function kernel(sent: Uint8Array[], errno = 0, sequence = 0) {
  return fakeWorld({
    system: {
      netlink: (_protocol, message) => {
        sent.push(message);
        const answer = new Uint8Array(4 + 16);
        const view = new DataView(answer.buffer);
        view.setInt32(0, -errno, true);
        view.setUint32(4 + 8, sequence, true);
        return encode({ protocol: 12, type: 2, flags: 0, header: answer });
      },
    },
  }).system;
}

function planOf(flags: readonly string[]) {
  const { settings } = readSettings(flags, {}, NAMES);
  assert.ok(settings);
  const plan = makePlan(settings.capture, { hasIpv6: flags.includes("--dual-stack"), dnsServers: [] });
  return { plan, options: { names: NAMES, comments: settings.run.comments, waitMilliseconds: 0 } };
}

/** The messages of a batch: type and attributes. */
function messagesOf(batch: Uint8Array): (readonly [number, Uint8Array])[] {
  const list: (readonly [number, Uint8Array])[] = [];
  const view = new DataView(batch.buffer, batch.byteOffset);
  for (let at = 0; at < batch.length; at += view.getUint32(at, true)) {
    list.push([view.getUint16(at + 4, true), batch.subarray(at + 20, at + view.getUint32(at, true))]);
  }
  return list;
}

function hex(bytes: Uint8Array | undefined): string {
  return [...bytes ?? []].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(text.match(/../g) ?? [], (byte) => parseInt(byte, 16));
}

/** In a `lookup`, the number of the set that only its transaction knows. */
const SET_ID = /(6c6f6f6b7570.*?08000400)[0-9a-f]{8}/g;

const LEFT_OUT: Readonly<Record<number, readonly number[]>> = {
  [MESSAGE.newRule]: [RULE.position, 9, 10],
  // Its number, and how nft prints it.
  [MESSAGE.newSet]: [10, 13],
  [MESSAGE.newElements]: [4],
};

/** A message without what nft adds for its own listing, and without the place of an inserted rule. */
function comparable([type, attributes]: readonly [number, Uint8Array]): string {
  const left = LEFT_OUT[type] ?? [];
  const kept = attributeList(attributes).filter(([name]) => !left.includes(name)).sort(([a], [b]) => a - b);
  return `${type} ${kept.map(([name, value]) => `${name}=${hex(value)}`).join(" ")}`.replaceAll(SET_ID, "$1");
}

const CHANGES: ReadonlySet<number> = new Set(
  [MESSAGE.newTable, MESSAGE.newChain, MESSAGE.newRule, MESSAGE.newSet, MESSAGE.newElements],
);

for (const { flags, messages } of recorded.runs) {
  Deno.test(`netlinkSteps: the messages of nft for the same rules, ${flags.join(" ")}`, async () => {
    const sent: Uint8Array[] = [];
    const { plan, options } = planOf(flags);
    const { steps } = netlinkSteps(kernel(sent), EMPTY, { iptables: undefined, native: plan }, options);
    await steps[0]?.run();
    const [batch = new Uint8Array()] = sent;
    const made = messagesOf(batch).filter(([type]) => CHANGES.has(type)).map(comparable);
    const wanted = messages.map(([type, attributes]) => comparable([Number(type), bytesOf(String(attributes))]));
    assert.deepEqual(made.sort(), wanted.sort());
  });

  Deno.test(`heldTables: the recorded rules are the planned ones, ${flags.join(" ")}`, () => {
    const { plan, options } = planOf(flags);
    const held = new Map<string, string[]>();
    for (const [type, text] of messages) {
      if (type !== MESSAGE.newRule) continue;
      const attributes = attributesOf(bytesOf(String(text)));
      const expressions = expressionsOf(attributes.get(RULE.expressions)).map((one) =>
        one.kind === "lookup"
          ? { ...one, elements: [53, 15008].map((port) => Uint8Array.of(port >> 8, port & 255)) }
          : one
      );
      const rule = { handle: new Uint8Array(8), expressions, userData: attributes.get(RULE.userData) };
      const chains = new Map([["c", { base: undefined, accepts: true, rules: [rule] }]]);
      const table = textOf(attributes.get(RULE.table));
      const found = heldTables({ tables: new Map([[`inet ${table}`, { chains, uses: 1 }]]) }, NAMES);
      const place = `${table} ${textOf(attributes.get(RULE.chain))}`;
      held.set(place, [...held.get(place) ?? [], ...found.flatMap(({ rules }) => rules.map(({ key }) => key))]);
    }
    const wanted = Object.groupBy(plan.rules, ({ table, chain }) => `istio-proxy-${table} ${nftChain(chain)}`);
    assert.deepEqual([...held.keys()].sort(), Object.keys(wanted).sort());
    for (const [place, rules = []] of Object.entries(wanted)) {
      const keys = rules.map((rule) => wantedRule(rule, options).key);
      assert.deepEqual((held.get(place) ?? []).sort(), keys.sort(), place);
    }
  });
}

Deno.test("expressionAttribute: encodes decoded expressions to the bytes that nft sent", () => {
  for (const { messages } of recorded.runs) {
    for (const [type, text] of messages) {
      if (type !== MESSAGE.newRule) continue;
      const bytes = attributesOf(bytesOf(String(text))).get(RULE.expressions);
      const again = expressionsOf(bytes).map((one) => hex(attributeBytes(expressionAttribute(one)))).join("");
      assert.equal(again, hex(bytes));
    }
  }
});

Deno.test("netlinkSteps: a refused rule is named", () => {
  const { plan, options } = planOf(["-u", "1337"]);
  const { steps } = netlinkSteps(kernel([], 2, 6), EMPTY, { iptables: plan, native: undefined }, options);
  assert.throws(() => steps[0]?.run(), (error) => {
    assert.ok(error instanceof RefusedRule);
    assert.match(error.rule, /^-t nat -A ISTIO_|^table ip nat, chain/);
    return error.errno === 2;
  });
});

Deno.test("netlinkSteps: rules that changed in the meantime cause their own error", () => {
  const { plan, options } = planOf(["-u", "1337"]);
  const { steps } = netlinkSteps(kernel([], 85), EMPTY, { iptables: plan, native: undefined }, options);
  assert.throws(() => steps[0]?.run(), RulesetChanged);
});

Deno.test("netlinkSteps: both families and back ends are one transaction of the generation that was read", async () => {
  const sent: Uint8Array[] = [];
  const { plan, options } = planOf(["-u", "1337", "--dual-stack"]);
  const { steps } = netlinkSteps(kernel(sent), EMPTY, { iptables: plan, native: plan }, options);
  assert.equal(steps.length, 1);
  await steps[0]?.run();
  assert.equal(sent.length, 1);
  const [begin] = messagesOf(sent[0] ?? new Uint8Array());
  assert.equal(hex(begin?.[1]), "0800010000000007");
});

Deno.test("nativeDifferences: a foreign chain without rules is unexpected, because its policy may drop packets", () => {
  const { plan, options } = planOf([]);
  const chains = plannedChains(plan.rules, (rule) => wantedRule(rule, options));
  const rules = [...chains.values()].flat();
  const differences = (...foreign: readonly string[]) => {
    const tables = [{ name: "nat", chains: [...chains.keys(), ...foreign], rules }] as const;
    const holding = { variant: "native", family: undefined, tables, owned: new Set(rules) } as const;
    return nativeDifferences({ ...EMPTY, holdings: [holding] }, plan, options);
  };
  assert.deepEqual(differences(), []);
  const place = "table inet istio-proxy-nat, chain";
  assert.deepEqual(differences("FORWARD", "FOO"), [`${place} forward: unexpected`, `${place} foo: unexpected`]);
});
