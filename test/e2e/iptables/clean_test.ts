import assert from "node:assert/strict";
import { testWhen } from "../../support/test_when.ts";
import { BACK_ENDS } from "./support/back_ends.ts";
import { addForeign } from "./support/foreign.ts";
import { Namespace, Pair, startSaying } from "./support/pod.ts";
import { addRelease, RELEASES } from "./support/releases.ts";
import { stateOf } from "./support/state.ts";

const MISSING = BACK_ENDS.map(({ missing }) => missing).find((reason) => reason !== undefined);

startSaying();

for (const release of RELEASES) {
  for (const variant of ["nft", "legacy"] as const) {
    testWhen(MISSING, `clean without flags after Istio ${release.name}, in iptables-${variant}`, async () => {
      await using namespace = await Namespace.create();
      await namespace.shell("ip link set lo up");
      await addForeign(namespace, [variant]);
      const before = await stateOf(namespace);
      await addRelease(namespace, release, variant);
      assert.notDeepEqual(await stateOf(namespace), before);
      const { code, stderr } = await namespace.say(["istio-clean-iptables"]);
      assert.equal(code, 0, stderr);
      assert.deepEqual(await stateOf(namespace), before);
    });
  }
}

testWhen(MISSING, "apply over the rules of a release gives the state of a first apply", async (t) => {
  const flags = ["istio-iptables", "-u", "1337", "-m", "TPROXY", "-b", "*", "-i", "*", "--dual-stack"];
  for (const { name, flags: backEnd } of BACK_ENDS) {
    await using first = await Pair.create();
    assert.equal((await first.pod.say([...flags, ...backEnd])).code, 0);
    const expected = await stateOf(first.pod);
    for (const release of RELEASES) {
      await t.step(`${release.name}, to ${name}`, async () => {
        await using pair = await Pair.create();
        await addRelease(pair.pod, release, name === "iptables-legacy" ? "legacy" : "nft");
        const { code, stderr } = await pair.pod.say([...flags, ...backEnd]);
        assert.equal(code, 0, stderr);
        assert.deepEqual(await stateOf(pair.pod), expected);
      });
    }
  }
});

testWhen(MISSING, "clean leaves rules that only look like owned ones", async () => {
  await using namespace = await Namespace.create();
  await namespace.shell("ip link set lo up");
  await addForeign(namespace, ["nft", "legacy"]);
  const before = await stateOf(namespace);
  const { code, stderr } = await namespace.say(["iptables", "clean"]);
  assert.equal(code, 0, stderr);
  assert.match(stderr, /nothing to/i);
  assert.deepEqual(await stateOf(namespace), before);
});
