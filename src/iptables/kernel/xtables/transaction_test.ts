import assert from "node:assert/strict";
import { makePlan } from "../../plan/plan.ts";
import { readSettings } from "../../settings/read.ts";
import { ownedRules } from "./owned.ts";
import { parseSave } from "./save.ts";
import { changesText, tableChanges } from "./transaction.ts";

const NAMES = { users: new Map<string, number>(), groups: new Map<string, number>() };

function planOf(...flags: string[]) {
  const { settings } = readSettings(["-u", "1337", ...flags], {}, NAMES);
  assert.ok(settings);
  return makePlan(settings.capture, { hasIpv6: false, dnsServers: [] });
}

function changes(save: string, plan: ReturnType<typeof planOf> | undefined) {
  const tables = parseSave(save, NAMES);
  return tableChanges(plan, 4, { tables, owned: ownedRules(tables) }, { names: NAMES });
}

const SAVED = `*nat
:PREROUTING ACCEPT [0:0]
:OUTPUT ACCEPT [0:0]
:ISTIO_INBOUND - [0:0]
:ISTIO_IN_REDIRECT - [0:0]
:ISTIO_OUTPUT - [0:0]
:ISTIO_REDIRECT - [0:0]
:FOREIGN - [0:0]
-A PREROUTING -j FOREIGN
-A PREROUTING -p tcp -j ISTIO_INBOUND
-A OUTPUT -j ISTIO_OUTPUT
-A ISTIO_INBOUND -p tcp -m tcp --dport 15008 -j RETURN
-A ISTIO_INBOUND -p tcp -m tcp --dport 80 -j ISTIO_IN_REDIRECT
-A ISTIO_IN_REDIRECT -p tcp -j REDIRECT --to-ports 15006
-A ISTIO_OUTPUT -s 127.0.0.6/32 -o lo -j RETURN
-A ISTIO_OUTPUT ! -d 127.0.0.1/32 -o lo -p tcp -m tcp ! --dport 15008 -m owner --uid-owner 1337 -j ISTIO_IN_REDIRECT
-A ISTIO_OUTPUT -o lo -m owner ! --uid-owner 1337 -j RETURN
-A ISTIO_OUTPUT -m owner --uid-owner 1337 -j RETURN
-A ISTIO_OUTPUT ! -d 127.0.0.1/32 -o lo -p tcp -m tcp ! --dport 15008 -m owner --gid-owner 1337 -j ISTIO_IN_REDIRECT
-A ISTIO_OUTPUT -o lo -m owner ! --gid-owner 1337 -j RETURN
-A ISTIO_OUTPUT -m owner --gid-owner 1337 -j RETURN
-A ISTIO_OUTPUT -d 127.0.0.1/32 -j RETURN
-A ISTIO_REDIRECT -p tcp -j REDIRECT --to-ports 15001
COMMIT
`;

Deno.test("tableChanges: no change for planned rules in every spelling of iptables-save", () => {
  assert.deepEqual(changes(SAVED, planOf("-b", "80")), []);
});

Deno.test("tableChanges: another order of rules is a difference", () => {
  const lines = SAVED.split("\n");
  const at = lines.findIndex((line) => line.includes("! --uid-owner"));
  const [line = ""] = lines.splice(at, 1);
  lines.splice(at + 1, 0, line);
  const [change] = changes(lines.join("\n"), planOf("-b", "80"));
  assert.deepEqual(change?.differences, [
    "IPv4, table nat, chain ISTIO_OUTPUT: the order of the rules differs, starting at " +
    "-A ISTIO_OUTPUT -m owner --uid-owner 1337 -j RETURN",
  ]);
});

Deno.test("tableChanges: a second jump is a difference, and each is deleted", () => {
  const doubled = SAVED.replace(
    "-A OUTPUT -j ISTIO_OUTPUT\n",
    "-A OUTPUT -j ISTIO_OUTPUT\n-A OUTPUT -j ISTIO_OUTPUT\n",
  );
  const found = changes(doubled, planOf("-b", "80"));
  assert.deepEqual(found.flatMap(({ differences }) => differences), [
    "IPv4, table nat, chain OUTPUT: unexpected: -A OUTPUT -j ISTIO_OUTPUT",
  ]);
  assert.equal(changesText(found, {}).match(/^-D OUTPUT -j ISTIO_OUTPUT$/gm)?.length, 2);
});

Deno.test("tableChanges: without a plan all owned rules are deleted, and no others", () => {
  const text = changesText(changes(SAVED, undefined), {});
  assert.deepEqual(text.match(/^-D .*$/gm), ["-D PREROUTING -p tcp -j ISTIO_INBOUND", "-D OUTPUT -j ISTIO_OUTPUT"]);
  assert.deepEqual(text.match(/^-X .*$/gm)?.sort(), [
    "-X ISTIO_INBOUND",
    "-X ISTIO_IN_REDIRECT",
    "-X ISTIO_OUTPUT",
    "-X ISTIO_REDIRECT",
  ]);
  assert.doesNotMatch(text, /FOREIGN/);
});

Deno.test("tableChanges: no change without owned rules", () => {
  assert.deepEqual(changes("*nat\n:FOREIGN - [0:0]\n-A PREROUTING -j FOREIGN\nCOMMIT\n", undefined), []);
});
