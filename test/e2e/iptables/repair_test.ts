import assert from "node:assert/strict";
import { testWhen } from "../../support/test_when.ts";
import { BACK_ENDS } from "./support/back_ends.ts";
import { Pair, startSaying } from "./support/pod.ts";
import { stateOf } from "./support/state.ts";

startSaying();

const FLAGS = ["istio-iptables", "-u", "1337", "-m", "TPROXY", "-i", "*", "-b", "*", "--dual-stack", "-c", "eth7"];

/** Damage to owned rules, as shell lines. `$T` is the iptables program of one family. */
const IPTABLES_DAMAGE: Readonly<Record<string, string>> = {
  "rules in another order": "$T -t nat -D ISTIO_OUTPUT 1; $T -t nat -A ISTIO_OUTPUT -o lo -s $P -j RETURN",
  "jumps twice": "$T -t nat -A OUTPUT -j ISTIO_OUTPUT; $T -t mangle -A PREROUTING -p tcp -j ISTIO_INBOUND",
  "chains in unused tables": "$T -t raw -N ISTIO_OUTPUT_DNS; $T -t raw -A OUTPUT -j ISTIO_OUTPUT_DNS; " +
    "$T -t filter -N ISTIO_OLD",
  "a missing rule": "$T -t mangle -D OUTPUT -p tcp -m connmark --mark 1337 -j CONNMARK --restore-mark",
  "an extra rule": "$T -t nat -I ISTIO_INBOUND 1 -p tcp --dport 7777 -j RETURN",
  "an empty chain": "$T -t nat -F ISTIO_REDIRECT",
  "missing jumps": "$T -t nat -F OUTPUT; $T -t mangle -F PREROUTING",
};

const NFT_DAMAGE: Readonly<Record<string, string>> = {
  "rules in another order":
    "h=$(nft -a list chain inet istio-proxy-nat istio-output | sed -n 's/.*# handle //p' | sed -n 2p); " +
    "nft delete rule inet istio-proxy-nat istio-output handle $h; " +
    "nft add rule inet istio-proxy-nat istio-output oifname lo ip saddr 127.0.0.6/32 counter return",
  "jumps twice": "nft add rule inet istio-proxy-nat output counter jump istio-output",
  "unused tables": "nft add table inet istio-proxy-raw",
  "an extra rule": "nft insert rule inet istio-proxy-nat istio-inbound tcp dport 7777 counter return",
  "an empty chain": "nft flush chain inet istio-proxy-nat istio-redirect",
  "an extra chain": "nft add chain inet istio-proxy-nat istio-other",
};

const ROUTING_DAMAGE: Readonly<Record<string, string>> = {
  "a second policy rule": "ip rule add fwmark 1337 lookup 133; ip -6 rule add fwmark 1337 lookup 133",
  "a missing policy rule": "ip rule del fwmark 1337 lookup 133",
  "missing routes": "ip route flush table 133; ip -6 route flush table 133",
  "a missing address": "ip -6 addr del ::6/128 dev lo",
};

function damages(name: string): [string, string][] {
  const variant = name.replace("iptables-", "");
  const inFamilies = ([what, text]: [string, string]): [string, string] => [
    what,
    `T=iptables-${variant}; P=127.0.0.6/32; ${text}; T=ip6tables-${variant}; P=::6/128; ${text}`,
  ];
  const rules = name === "nft" ? Object.entries(NFT_DAMAGE) : Object.entries(IPTABLES_DAMAGE).map(inFamilies);
  return [...rules, ...Object.entries(ROUTING_DAMAGE)];
}

for (const { name, flags, missing } of BACK_ENDS) {
  testWhen(missing, `apply notices and repairs: ${name}`, async (t) => {
    await using pair = await Pair.create();
    const { pod } = pair;
    assert.equal((await pod.say([...FLAGS, ...flags])).code, 0);
    const expected = await stateOf(pod);
    for (const [what, damage] of damages(name)) {
      await t.step(what, async () => {
        await pod.shell(damage);
        assert.notDeepEqual(await stateOf(pod), expected);
        const { code, stderr } = await pod.say([...FLAGS, ...flags]);
        assert.equal(code, 0, stderr);
        assert.doesNotMatch(stderr, /nothing to change/i);
        assert.deepEqual(await stateOf(pod), expected);
      });
    }
  });
}

testWhen(BACK_ENDS[0]?.missing, "apply keeps the proxy's address that has another prefix", async () => {
  await using pair = await Pair.create();
  const { pod } = pair;
  await pod.shell("ip -6 addr add ::6/64 dev lo");
  const { code, stderr } = await pod.say([...FLAGS, ...BACK_ENDS[0]?.flags ?? []]);
  assert.equal(code, 0, stderr);
  assert.match(await pod.shell("ip -6 addr show dev lo"), / ::6\/64 /);
});
