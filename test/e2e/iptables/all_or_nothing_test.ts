import assert from "node:assert/strict";
import { MESH_COMMAND } from "../../support/programs/mesh.ts";
import { testWhen } from "../../support/test_when.ts";
import { BACK_ENDS, PROGRAM_BACK_ENDS } from "./support/back_ends.ts";
import { addForeign } from "./support/foreign.ts";
import { type Namespace, needsNamespaces, Pair, type Ran, startSaying } from "./support/pod.ts";
import { Shims, unlessTest } from "./support/shims.ts";
import { type State, stateOf } from "./support/state.ts";

const MISSING = BACK_ENDS.map(({ missing }) => missing).find((reason) => reason !== undefined) ??
  needsNamespaces("flock");

startSaying();

const EARLIER = ["-u", "1337", "-i", "*", "-b", "*", "--dual-stack", "-c", "eth7"];
const LATER = "-u 1337 -m TPROXY -i * -b 80 --dual-stack --redirect-dns --capture-all-dns".split(" ");

/** The last program that is started in each back end. */
const LAST: Readonly<Record<string, string>> = {
  "iptables-nft": "ip6tables-nft-restore",
  "iptables-legacy": "ip6tables-legacy-restore",
  nft: "nft",
};

/** Starts the program under test. */
function start(pod: Namespace, args: readonly string[], env: Record<string, string>): Deno.ChildProcess {
  return new Deno.Command("nsenter", {
    args: [`--net=${pod.path}`, MESH_COMMAND, "istio-iptables", ...args],
    env,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
}

async function ended(child: Deno.ChildProcess): Promise<Ran> {
  const { code, stdout, stderr } = await child.output();
  return { code, stdout: new TextDecoder().decode(stdout), stderr: new TextDecoder().decode(stderr) };
}

async function apply(pod: Namespace, args: readonly string[]): Promise<void> {
  const { code, stderr } = await pod.say(["istio-iptables", ...args]);
  assert.equal(code, 0, stderr);
}

async function fresh(args: readonly string[]): Promise<State> {
  await using pair = await Pair.create();
  await apply(pair.pod, args);
  return await stateOf(pair.pod);
}

for (const { name, flags } of PROGRAM_BACK_ENDS) {
  const last = LAST[name] ?? "nft";
  const failing = { [last]: unlessTest('echo "it cannot" >&2; exit 4') };
  const slow = { [last]: unlessTest("sleep 1") };

  testWhen(MISSING, `a failure at the end leaves nothing behind: ${name}`, async () => {
    await using pair = await Pair.create();
    await using shims = await Shims.create(failing);
    const before = await stateOf(pair.pod);
    const { code, stderr } = await pair.pod.say(["istio-iptables", ...LATER, ...flags], { env: shims.env });
    assert.equal(code, 1, stderr);
    assert.match(stderr, /^error: .*it cannot.*all changes were rolled back/m);
    assert.deepEqual(await stateOf(pair.pod), before);
  });

  testWhen(MISSING, `a failure at the end leaves earlier and foreign rules: ${name}`, async () => {
    await using pair = await Pair.create();
    await addForeign(pair.pod, ["nft", "legacy"]);
    await apply(pair.pod, [...EARLIER, ...flags]);
    await addForeign(pair.pod, []).catch(() => {});
    await using shims = await Shims.create(failing);
    const before = await stateOf(pair.pod);
    const { code, stderr } = await pair.pod.say(["istio-iptables", ...LATER, ...flags], { env: shims.env });
    assert.equal(code, 1, stderr);
    assert.deepEqual(await stateOf(pair.pod), before);
  });

  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    testWhen(MISSING, `${signal} in the middle restores the previous rules: ${name}`, async () => {
      await using pair = await Pair.create();
      await apply(pair.pod, [...EARLIER, ...flags]);
      const before = await stateOf(pair.pod);
      await using shims = await Shims.create(slow);
      const child = start(pair.pod, [...LATER, ...flags], shims.env);
      await shims.waitFor(workStarted(last));
      child.kill(signal);
      const { code, stderr } = await ended(child);
      assert.notEqual(code, 0);
      assert.match(stderr, new RegExp(`Interrupted by ${signal}.*rolled back`));
      assert.deepEqual(await stateOf(pair.pod), before);
    });
  }

  testWhen(MISSING, `the next apply repairs the rules after a SIGKILL in the middle: ${name}`, async () => {
    const expected = await fresh([...LATER, ...flags]);
    await using pair = await Pair.create();
    await apply(pair.pod, [...EARLIER, ...flags]);
    await using shims = await Shims.create({ [last]: unlessTest("sleep 1; exit 1") });
    const child = start(pair.pod, [...LATER, ...flags], shims.env);
    await shims.waitFor(workStarted(last));
    child.kill("SIGKILL");
    await ended(child);
    await apply(pair.pod, [...LATER, ...flags]);
    assert.deepEqual(await stateOf(pair.pod), expected);
  });
}

for (const { name, flags } of BACK_ENDS) {
  testWhen(MISSING, `concurrent applies all succeed: ${name}`, async () => {
    const expected = [await fresh([...EARLIER, ...flags]), await fresh([...LATER, ...flags])];
    await using pair = await Pair.create();
    const children = [EARLIER, LATER, LATER, EARLIER].map((args) => start(pair.pod, [...args, ...flags], {}));
    for (const child of children) {
      const { code, stderr } = await ended(child);
      assert.equal(code, 0, stderr);
    }
    const state = JSON.stringify(await stateOf(pair.pod));
    assert.ok(expected.some((one) => JSON.stringify(one) === state), state);
  });
}

/** Matches a start that changes rules; with `--test` a program only checks its input. */
function workStarted(program: string): RegExp {
  return program === "nft" ? /^nft -f/m : new RegExp(`^${program} (?!.*--test)`, "m");
}

testWhen(MISSING, "a route that cannot be added leaves nothing behind", async () => {
  await using pair = await Pair.create([4]);
  await pair.pod.shell("ip route add default via 10.199.0.1 table 133");
  const before = await stateOf(pair.pod);
  const { code, stderr } = await pair.pod.say(["istio-iptables", "-m", "TPROXY", "-b", "*", "-i", "*"]);
  assert.equal(code, 1, stderr);
  assert.match(stderr, /^error: .*table 133.*file exists.*rolled back/m);
  assert.deepEqual(await stateOf(pair.pod), before);
});

testWhen(MISSING, "--wait: apply waits for another run, and names that run after the timeout", async () => {
  await using pair = await Pair.create();
  const holder = new Deno.Command("nsenter", {
    args: [`--net=${pair.pod.path}`, "flock", "/proc/self/ns/net", "sh", "-c", "echo held; cat"],
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const held = holder.stdout.getReader();
  await held.read();
  const late = await pair.pod.mesh(["iptables", "apply", ...EARLIER, "--wait", "300ms"]);
  assert.equal(late.code, 1);
  assert.match(late.stderr, /^error: Another run .* after 0\.3 s.*--wait/m);
  const waiting = apply(pair.pod, [...EARLIER, "--wait", "60s"]);
  await holder.stdin.close();
  await waiting;
  await holder.status;
  await held.cancel();
});

testWhen(MISSING, "--wait: apply waits for iptables-legacy's lock, and names it after the timeout", async () => {
  await using pair = await Pair.create();
  const lockedFor = (seconds: number) =>
    `mount -t tmpfs tmpfs /run; flock /run/xtables.lock sh -c "touch /run/held; exec sleep ${seconds}" >/dev/null 2>&1 & ` +
    "until [ -e /run/held ]; do sleep 0.01; done";
  const flags = ["istio-iptables", ...EARLIER, "--force-iptables-binary", "legacy"];
  const late = await pair.pod.mesh([...flags, "--wait", "1s"], { mounts: lockedFor(30) });
  assert.equal(late.code, 1);
  assert.match(late.stderr, /^error: .*xtables lock.*--wait/m);
  const done = await pair.pod.mesh([...flags, "--wait", "60s"], { mounts: lockedFor(1) });
  assert.equal(done.code, 0, done.stderr);
});
