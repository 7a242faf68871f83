import assert from "node:assert/strict";
import { testWhen } from "../../support/test_when.ts";
import { BACK_ENDS } from "./support/back_ends.ts";
import { addForeign } from "./support/foreign.ts";
import { type Namespace, needsNamespaces, Pair, startSaying } from "./support/pod.ts";
import { type State, stateOf } from "./support/state.ts";

const MISSING = BACK_ENDS.map(({ missing }) => missing).find((reason) => reason !== undefined) ??
  needsNamespaces("iptables-legacy-save");

startSaying();

/** Settings that differ in everything. */
const SETTINGS: Readonly<Record<string, readonly string[]>> = {
  redirect: ["-u", "1337", "-i", "*", "-b", "*", "-d", "15090,15021,15020"],
  tproxy: [
    ...["-u", "1337", "-m", "TPROXY", "-i", "*", "-b", "*", "-d", "15090", "--dual-stack", "--redirect-dns"],
    ...["--capture-all-dns", "--drop-invalid", "-c", "eth7,eth8", "-t", "99", "-r", "55"],
  ],
  "dual stack": "-u 1337,2000 -g 1337 -i * -b * --dual-stack --redirect-dns --capture-all-dns".split(" "),
  lists: [
    ...["-u", "1337", "-i", "10.0.0.0/8,fd00::/8", "-x", "10.1.0.0/16", "-b", "80,8000:8100", "-q", "9000", "-o", "25"],
    ...["-c", "eth7", "-k", "tap0,tap1", "--exclude-uid", "500", "--drop-invalid"],
  ],
  nothing: ["-u", "1337"],
};

async function apply(pod: Namespace, flags: readonly string[]): Promise<string> {
  const { code, stderr } = await pod.say(["istio-iptables", ...flags]);
  assert.equal(code, 0, stderr);
  return stderr;
}

async function clean(pod: Namespace): Promise<string> {
  const { code, stderr } = await pod.say(["iptables", "clean"]);
  assert.equal(code, 0, stderr);
  return stderr;
}

/** Settings, and the back end that applies them. */
interface Target {
  readonly name: string;
  readonly flags: readonly string[];
}

const TARGETS: readonly Target[] = BACK_ENDS.flatMap((backEnd) =>
  Object.entries(SETTINGS).map(([name, flags]) => ({
    name: `${name} by ${backEnd.name}`,
    flags: [...flags, ...backEnd.flags],
  }))
);

const FOREIGN = ["nft", "legacy"] as const;

/** States after the first apply in a namespace with foreign rules. */
const firstStates = new Map<Target, State>();

/** The state after the first apply, if no test has found it yet. */
async function fresh({ flags }: Target): Promise<State> {
  await using pair = await Pair.create();
  await addForeign(pair.pod, FOREIGN);
  await apply(pair.pod, flags);
  return await stateOf(pair.pod);
}

/** Visits all targets once with each step: a step has no common factor with the number of targets. */
function walk(): Target[] {
  const steps = [1, 4];
  return steps.flatMap((step) => TARGETS.map((_, at) => TARGETS[(at * step) % TARGETS.length])).filter((one) =>
    one !== undefined
  );
}

for (const target of TARGETS) {
  testWhen(MISSING, `apply twice, then clean twice: ${target.name}`, async () => {
    await using pair = await Pair.create();
    await addForeign(pair.pod, FOREIGN);
    const before = await stateOf(pair.pod);
    await apply(pair.pod, target.flags);
    const after = await stateOf(pair.pod);
    firstStates.set(target, after);
    assert.notDeepEqual(after, before);
    assert.match(await apply(pair.pod, target.flags), /nothing to change/i);
    assert.deepEqual(await stateOf(pair.pod), after);
    await clean(pair.pod);
    assert.deepEqual(await stateOf(pair.pod), before);
    assert.match(await clean(pair.pod), /nothing to remove/i);
  });
}

testWhen(
  MISSING,
  "apply: a change of settings gives the state of a first apply; foreign rules stay",
  async (t) => {
    for (const target of TARGETS) if (!firstStates.has(target)) firstStates.set(target, await fresh(target));
    await using pair = await Pair.create();
    await addForeign(pair.pod, FOREIGN);
    const before = await stateOf(pair.pod);
    let previous = "nothing of ours";
    for (const target of walk()) {
      await t.step(`${previous} to ${target.name}`, async () => {
        await apply(pair.pod, target.flags);
        assert.deepEqual(await stateOf(pair.pod), firstStates.get(target));
      });
      previous = target.name;
    }
    await clean(pair.pod);
    assert.deepEqual(await stateOf(pair.pod), before);
  },
);
