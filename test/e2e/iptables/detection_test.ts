import assert from "node:assert/strict";
import { MESH_COMMAND } from "../../support/programs/mesh.ts";
import { needsProgram, testWhen } from "../../support/test_when.ts";
import { BACK_ENDS, PROGRAM_BACK_ENDS } from "./support/back_ends.ts";
import { addForeign } from "./support/foreign.ts";
import { type Namespace, Pair, type RunOptions, startSaying } from "./support/pod.ts";
import { Shims } from "./support/shims.ts";
import { stateOf } from "./support/state.ts";

const MISSING = BACK_ENDS.map(({ missing }) => missing).find((reason) => reason !== undefined);

startSaying();

const FLAGS = ["istio-iptables", "-u", "1337", "-m", "TPROXY", "-i", "*", "-b", "*", "--dual-stack", "--drop-invalid"];

async function succeed(pod: Namespace, args: readonly string[], options: RunOptions = {}): Promise<string> {
  const { code, stderr } = await pod.say(args, options);
  assert.equal(code, 0, stderr);
  return stderr;
}

/** The error line of a run that must fail. */
async function refused(pod: Namespace, args: readonly string[], options: RunOptions = {}): Promise<string> {
  const { code, stderr } = await pod.say(args, options);
  assert.equal(code, 1, stderr);
  return /^error: .*$/m.exec(stderr)?.[0] ?? `no error in: ${stderr}`;
}

for (const { name, flags } of PROGRAM_BACK_ENDS) {
  for (const held of [[], ["nft"], ["legacy"], ["nft", "legacy"]] as const) {
    const others = held.length === 0 ? "no foreign rules" : `foreign rules in ${held.join(" and ")}`;
    testWhen(MISSING, `programs started: at most 5, by a second apply 2; ${name}, ${others}`, async () => {
      await using pair = await Pair.create();
      await using shims = await Shims.create();
      await addForeign(pair.pod, held);
      await succeed(pair.pod, [...FLAGS, ...flags], { env: shims.env });
      const first = await shims.started();
      await succeed(pair.pod, [...FLAGS, ...flags], { env: shims.env });
      const second = await shims.started();
      assert.ok(first.length > 0 && first.length <= 5, first.join("\n"));
      assert.ok(second.length <= 2, second.join("\n"));
    });
  }
}

for (const [name, flags] of [["iptables-nft", []], ["nft", ["--backend", "nft"]]] as const) {
  testWhen(MISSING, `netlink starts no program and needs none: ${name}`, async () => {
    await using pair = await Pair.create();
    await using shims = await Shims.create();
    await addForeign(pair.pod, ["nft"]);
    const before = await stateOf(pair.pod);
    const run = [...FLAGS, "--redirect-dns", "--comments", ...flags];
    assert.match(await succeed(pair.pod, run, { env: shims.env }), /The rules are in place/);
    assert.deepEqual(await shims.started(), []);
    const options = { env: { PATH: "/nonexistent" } };
    assert.match(await succeed(pair.pod, run, options), /Nothing to change/);
    await succeed(pair.pod, ["iptables", "verify"], options);
    assert.match(await succeed(pair.pod, ["iptables", "clean"], options), /All owned rules are removed/);
    assert.deepEqual(await stateOf(pair.pod), before);
  });
}

testWhen(MISSING, "the choice of the back end leaves no trace, logs its evidence, and is stable", async () => {
  await using pair = await Pair.create();
  const legacyTables = () => pair.pod.shell("cat /proc/net/ip_tables_names /proc/net/ip6_tables_names");
  for (let run = 0; run < 3; run++) {
    assert.match(await succeed(pair.pod, FLAGS), /back end: iptables-nft, because .+/i);
    assert.equal(await legacyTables(), "");
  }
  await succeed(pair.pod, ["iptables", "clean"]);
  assert.equal(await legacyTables(), "");
});

testWhen(MISSING, "foreign rules in iptables-legacy select it, on every run", async () => {
  await using pair = await Pair.create();
  await addForeign(pair.pod, ["legacy"]);
  for (let run = 0; run < 2; run++) {
    assert.match(
      await succeed(pair.pod, FLAGS),
      /back end: iptables-legacy, because iptables-legacy has \d+ foreign rules/i,
    );
  }
  const state = await stateOf(pair.pod);
  assert.match(state.legacy4, /ISTIO_OUTPUT/);
  assert.doesNotMatch(state.nft4, /ISTIO_/);
});

testWhen(
  MISSING,
  "foreign rules in iptables-legacy without its programs: apply uses iptables-nft by netlink, and says so",
  async () => {
    await using pair = await Pair.create();
    await addForeign(pair.pod, ["legacy"]);
    const { legacy4 } = await stateOf(pair.pod);
    const said = await succeed(pair.pod, FLAGS, { env: { PATH: "/nonexistent" } });
    assert.match(
      said,
      /back end: iptables-nft, because .* the image has no program for iptables-legacy, which has \d+ foreign rules/,
    );
    assert.equal((await stateOf(pair.pod)).legacy4, legacy4);
  },
);

/** A folder with only the programs of a variant, under names without a suffix. */
async function plainPrograms(pod: Namespace, variant: string): Promise<string> {
  const folder = await Deno.makeTempDir({ prefix: "mesh-plain-" });
  for (const name of ["iptables-save", "iptables-restore", "ip6tables-save", "ip6tables-restore"]) {
    const real = await pod.shell(`command -v ${name.replace("-", `-${variant}-`)}`);
    await Deno.symlink(real.trim(), `${folder}/${name}`);
  }
  return folder;
}

for (const [variant, used] of [["nft", "nft4"], ["legacy", "legacy4"]] as const) {
  testWhen(MISSING, `programs without a suffix are used as their variant: iptables-${variant}`, async () => {
    await using pair = await Pair.create();
    const folder = await plainPrograms(pair.pod, variant);
    try {
      const env = { PATH: `${folder}:/usr/bin:/bin` };
      const flags = [...FLAGS, "--via", "programs"];
      await succeed(pair.pod, flags, { env });
      assert.match((await stateOf(pair.pod))[used], /ISTIO_OUTPUT/);
      assert.match(await succeed(pair.pod, flags, { env }), /nothing to change/i);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  });
}

testWhen(MISSING ?? needsProgram("setpriv"), "a missing capability is named", async () => {
  await using pair = await Pair.create();
  for (const { flags } of BACK_ENDS) {
    const without = ["--bounding-set", "-net_admin", "--inh-caps", "-net_admin", MESH_COMMAND, ...FLAGS, ...flags];
    const { code, stderr } = await pair.pod.run("setpriv", without);
    assert.equal(code, 1, stderr);
    assert.match(stderr, /^error: .*NET_ADMIN/m);
  }
});

testWhen(MISSING, "an error names the missing program", async () => {
  await using pair = await Pair.create();
  const env = { PATH: "/usr/bin:/bin" };
  const flags = [...FLAGS, "--via", "programs"];
  assert.match(await refused(pair.pod, flags, { env }), /"iptables-restore" is not on PATH.*--via netlink/);
  assert.match(await refused(pair.pod, [...flags, "--native-nftables"], { env }), /"nft" is not on PATH/);
  const forced = [...FLAGS, "--force-iptables-binary", "legacy"];
  assert.match(
    await refused(pair.pod, forced, { env }),
    /"iptables-legacy-restore" is not on PATH.*force-iptables-binary/,
  );
  await succeed(pair.pod, FLAGS);
  assert.match(
    await refused(pair.pod, ["iptables", "clean", "--via", "programs"], { env }),
    /No program can read the rules of iptables-nft.*iptables-nft-save/,
  );
});

testWhen(MISSING, "disabled IPv6 is no error, with dual stack or without", async () => {
  for (const { flags } of BACK_ENDS) {
    await using pair = await Pair.create([4]);
    await pair.pod.shell("echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6");
    const before = await stateOf(pair.pod);
    await succeed(pair.pod, [...FLAGS, ...flags]);
    assert.match(await succeed(pair.pod, [...FLAGS, ...flags]), /nothing to change/i);
    await succeed(pair.pod, ["iptables", "clean"]);
    assert.deepEqual(await stateOf(pair.pod), before);
  }
});

testWhen(MISSING, "a rule of another program in an owned table is removed", async () => {
  await using pair = await Pair.create();
  const args = [...FLAGS, "--native-nftables"];
  await succeed(pair.pod, args);
  await pair.pod.shell("nft insert rule inet istio-proxy-nat istio-output ip ttl 5 counter drop");
  assert.match(await succeed(pair.pod, args), /Removed: .*\[payload .*base 1 offset 8 .*drop/);
  assert.match(await succeed(pair.pod, args), /Nothing to change/);
});

testWhen(
  MISSING,
  "a read-only /run is only an error for iptables-legacy, which names its lock",
  async () => {
    await using pair = await Pair.create();
    const mounts = "mount -t tmpfs -o ro tmpfs /run";
    await succeed(pair.pod, FLAGS, { mounts });
    await succeed(pair.pod, [...FLAGS, "--native-nftables"], { mounts });
    const line = await refused(pair.pod, [...FLAGS, "--force-iptables-binary", "legacy"], { mounts });
    assert.match(line, /xtables\.lock.*XTABLES_LOCKFILE/);
  },
);

testWhen(MISSING, "a missing kernel module is named, and nothing is changed", async () => {
  const said = "Warning: Extension owner revision 0 not supported, missing kernel module?";
  await using pair = await Pair.create();
  await using shims = await Shims.create({ "ip6tables-nft-restore": `echo "${said}" >&2; exit 4` });
  const before = await stateOf(pair.pod);
  const flags = [...FLAGS, "--via", "programs"];
  assert.match(await refused(pair.pod, flags, { env: shims.env }), /run on the node: modprobe xt_owner/i);
  assert.deepEqual(await stateOf(pair.pod), before);
});

testWhen(MISSING, "a table that iptables cannot read is named by programs, and changed by netlink", async () => {
  await using pair = await Pair.create();
  await succeed(pair.pod, FLAGS);
  await pair.pod.shell(
    "nft 'add set ip nat names { type ipv4_addr; }'; nft 'add rule ip nat OUTPUT ip daddr @names dnat to 10.9.9.9'",
  );
  const ruleset = await pair.pod.shell("nft list ruleset");
  assert.match(await refused(pair.pod, [...FLAGS, "--via", "programs"]), /cannot read table "nat".*nft/);
  assert.equal(await pair.pod.shell("nft list ruleset"), ruleset);
  assert.match(await succeed(pair.pod, FLAGS), /Nothing to change/);
  await succeed(pair.pod, ["iptables", "clean"]);
  const left = await pair.pod.shell("nft list ruleset");
  assert.match(left, /set names[^]*dnat to 10.9.9.9/);
  assert.doesNotMatch(left, /ISTIO_/);
});
