/**
 * Recorded from iptables-nft-restore 1.8.9 with `strace -e trace=sendmsg -xx`, and from iptables-nft-save: the extensions of
 * each rule (kind, name, revision, bytes without zeros at the end), and the printed rules.
 */
import assert from "node:assert/strict";
import { makePlan } from "../../plan/plan.ts";
import { type Family, rulesOf } from "../../plan/rule.ts";
import { readSettings } from "../../settings/read.ts";
import { attributeBytes } from "../netlink.ts";
import { joinBytes } from "../../../base/bytes.ts";
import { type Expression, expressionAttribute, expressionsOf } from "../netfilter/expressions.ts";
import { compatRule } from "./compat_rule.ts";
import { savedText } from "./compat_text.ts";
import recorded from "./testdata/iptables_nft.json" with { type: "json" };

const NAMES = { users: new Map<string, number>(), groups: new Map<string, number>() };

/** Extensions that 1.8.9 writes as expressions. */
const NATIVE = /^match (tcp|udp|mark) /;

for (const { flags, family, extensions, saved } of recorded.runs) {
  const { settings } = readSettings(flags, {}, NAMES);
  assert.ok(settings);
  const plan = makePlan(settings.capture, { hasIpv6: flags.includes("--dual-stack"), dnsServers: [] });
  const own: Family = family === 4 ? 4 : 6;
  const options = { names: NAMES, comments: settings.run.comments };
  const rules = rulesOf(plan, own).map((rule) => ({ rule, expressions: compatRule(rule, own, options) }));

  Deno.test(`compatRule: the extensions of iptables-nft-restore, IPv${family}, ${flags.join(" ")}`, () => {
    const made = rules.flatMap(({ expressions }) => expressions).flatMap(extensionText);
    assert.deepEqual([...new Set(made)].filter((text) => !NATIVE.test(text)).sort(), extensions);
  });

  Deno.test(`savedText: the lines of iptables-nft-save, IPv${family}, ${flags.join(" ")}`, () => {
    const lines = rules.map(({ rule: { chain }, expressions }) => {
      const read = expressionsOf(joinBytes(expressions.map((one) => attributeBytes(expressionAttribute(one)))));
      const text = savedText({ handle: new Uint8Array(8), expressions: read, userData: undefined }, own);
      return `-A ${chain} ${text}`;
    });
    assert.deepEqual(lines.sort(), saved.toSorted());
  });
}

function extensionText({ kind, fields: { name, revision, info } }: Expression): string[] {
  if (!(info instanceof Uint8Array)) return [];
  const bytes = [...info].map((byte) => byte.toString(16).padStart(2, "0")).join("").replace(/(00)+$/, "");
  return [`${kind} ${name} ${revision} ${bytes}`];
}
