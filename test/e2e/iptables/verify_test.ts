import assert from "node:assert/strict";
import { MESH_BINARY, MESH_COMMAND } from "../../support/programs/mesh.ts";
import { testWhen } from "../../support/test_when.ts";
import { until } from "../../support/until.ts";
import { BACK_ENDS } from "./support/back_ends.ts";
import { type Namespace, needsNamespaces, Pair, POD, startSaying } from "./support/pod.ts";

const MISSING = needsNamespaces("iptables-nft-save", "setpriv");

startSaying();

const FLAGS = [
  ...["-p", "15001", "-z", "15006", "-u", "1337", "-i", "*", "-b", "*", "-d", "15090", "--dual-stack"],
  ...["--redirect-dns", "--capture-all-dns"],
];

interface Report {
  readonly proved: boolean;
  readonly flows: readonly {
    readonly flow: string;
    readonly family: string;
    readonly result: string;
    readonly reason: string;
  }[];
}

async function verify(pod: Namespace, flags: readonly string[]): Promise<{ code: number; stderr: string } & Report> {
  const { code, stdout, stderr } = await pod.mesh(["iptables", "verify", "--output", "json", ...flags]);
  const report: Report = JSON.parse(stdout);
  return { code, stderr, ...report };
}

async function apply(pod: Namespace, flags: readonly string[]): Promise<void> {
  const { code, stderr } = await pod.say(["istio-iptables", ...flags]);
  assert.equal(code, 0, stderr);
}

function resultsOf({ flows }: Report): string[] {
  return flows.map(({ flow, family, result, reason }) => `${family} ${flow}: ${result}, ${reason}`);
}

const ALL = ["outbound", "inbound", "proxy to itself", "DNS over TCP", "DNS over UDP"];

/** Waits for the routes of all IPv6 addresses, which the kernel adds later than the addresses. */
const ADDRESSES_IN_USE = `for address in $(ip -6 -o addr show scope global | sed 's/.*inet6 //; s,/.*,,'); do
  until ip -6 route show table local | grep -q "^local $address "; do sleep 0.02; done; done`;

for (const { name, flags, missing } of BACK_ENDS) {
  for (const mode of ["REDIRECT", "TPROXY"]) {
    testWhen(missing ?? MISSING, `verify: every flow is proved and nothing is left, ${mode} by ${name}`, async () => {
      await using pair = await Pair.create();
      const settings = [...FLAGS, ...flags, "-m", mode];
      await apply(pair.pod, settings);
      await pair.pod.shell(ADDRESSES_IN_USE);
      const state = "{ ip -o addr; ip rule; ip route show table all; } | sed '/fe80/d; s/ tentative//'";
      const before = await pair.pod.shell(state);
      const report = await verify(pair.pod, settings);
      assert.equal(report.code, 0, report.stderr);
      assert.deepEqual(
        report.flows.map(({ flow, family, result }) => `${family} ${flow} ${result}`),
        ["IPv4", "IPv6"].flatMap((family) => ALL.map((flow) => `${family} ${flow} proved`)),
      );
      assert.equal(await pair.pod.shell(state), before);
    });
  }
}

testWhen(MISSING, "verify: without rules every flow escapes, and the missing rules are named", async () => {
  await using pair = await Pair.create();
  const report = await verify(pair.pod, [...FLAGS, "--probe-timeout", "1s"]);
  assert.equal(report.code, 126);
  assert.deepEqual(new Set(report.flows.map(({ result }) => result)), new Set(["escaped"]));
  assert.match(report.stderr, /IPv6 inbound to \[fd99::2\]:15002: .* refused the connection/);
  assert.match(report.stderr, /missing: -A ISTIO_INBOUND/);
});

testWhen(MISSING, "verify: the flow that escapes and its rule are named", async () => {
  await using pair = await Pair.create();
  await apply(pair.pod, FLAGS);
  await pair.pod.shell("iptables-nft -t nat -D PREROUTING -p tcp -j ISTIO_INBOUND");
  const report = await verify(pair.pod, [...FLAGS, "--probe-timeout", "3s"]);
  assert.equal(report.code, 126);
  const escaped = report.flows.filter(({ result }) => result === "escaped");
  assert.deepEqual(escaped.map(({ flow, family }) => `${family} ${flow}`), ["IPv4 inbound"]);
  assert.match(report.stderr, /missing: -A PREROUTING -p tcp -j ISTIO_INBOUND/);
});

for (const mode of ["REDIRECT", "TPROXY"]) {
  testWhen(MISSING, `verify: a proxy already uses the ports, ${mode}`, async () => {
    await using pair = await Pair.create();
    const settings = [...FLAGS, "-m", mode];
    await apply(pair.pod, settings);
    const inbound = mode === "TPROXY" ? { transparent: [15006] } : {};
    await pair.pod.serve({ uid: 1337, tcp: mode === "TPROXY" ? [15001] : [15001, 15006], ...inbound });
    const report = await verify(pair.pod, settings);
    assert.equal(report.code, 0, resultsOf(report).join("\n"));
    const inUse = report.flows.filter(({ reason }) =>
      /the process that listens on port 150(01|06) has the connection/.test(reason)
    );
    assert.deepEqual(
      inUse.map(({ flow, family }) => `${family} ${flow}`),
      ["IPv4", "IPv6"].flatMap((family) =>
        ["outbound", "inbound", "proxy to itself"].map((flow) => `${family} ${flow}`)
      ),
    );
  });
}

const WITHOUT_CAPABILITIES = [
  ...["--reuid", "1337", "--regid", "1337", "--clear-groups", "--bounding-set", "-all", "--inh-caps", "-all"],
];

/** Runs the program as the container `istio-validation` does with the CNI plugin. */
function validation(pod: Namespace, ...flags: string[]) {
  const args = [MESH_COMMAND, "istio-iptables", ...FLAGS, "--run-validation", "--skip-rule-apply", ...flags];
  return pod.run("setpriv", [...WITHOUT_CAPABILITIES, ...args]);
}

const NEEDS_BINARY = MESH_BINARY === undefined ? "MESH_BINARY does not name a binary that any user can run" : undefined;

testWhen(
  MISSING ?? NEEDS_BINARY,
  "--run-validation as 1337 without capabilities: only the flow of the proxy",
  async () => {
    await using pair = await Pair.create();
    const before = await validation(pair.pod, "--probe-timeout", "1s");
    assert.equal(before.code, 126, before.stderr);
    assert.match(
      before.stderr,
      /cannot be read without the capability NET_ADMIN.*--uid-owner 1337 -j ISTIO_IN_REDIRECT/,
    );
    await apply(pair.pod, FLAGS);
    const after = await validation(pair.pod);
    assert.equal(after.code, 0, after.stderr);
    assert.match(after.stderr, /Traffic is captured.*: IPv4 proxy to itself, IPv6 proxy to itself\n/);
    assert.match(after.stderr, /not provable: IPv4 inbound .* needs the capabilities NET_ADMIN and NET_RAW/);
  },
);

testWhen(
  MISSING,
  "--run-validation: root in the init container has no SETUID, and proves flows of its own user",
  async () => {
    await using pair = await Pair.create();
    const { code, stderr } = await pair.pod.run("setpriv", [
      ...["--bounding-set", "-all,+net_admin,+net_raw", "--inh-caps", "-all", "--ambient-caps", "-all"],
      ...[MESH_COMMAND, "istio-iptables", ...FLAGS, "--run-validation"],
    ]);
    assert.equal(code, 0, stderr);
    assert.match(stderr, /proved: IPv4 inbound/);
    assert.match(stderr, /not provable: IPv4 proxy to itself .* without the capability SETUID/);
  },
);

for (const { name, flags, missing } of BACK_ENDS) {
  testWhen(missing ?? MISSING, `verify takes its settings from the rules in the kernel, ${name}`, async () => {
    await using pair = await Pair.create();
    await apply(pair.pod, [...FLAGS, ...flags, "-m", "TPROXY", "-p", "16001", "-z", "16006"]);
    const report = await verify(pair.pod, []);
    assert.equal(report.code, 0, report.stderr);
    assert.match(
      report.stderr,
      /Settings are read from the rules in the kernel, which capture inbound and outbound connections/,
    );
    assert.deepEqual(
      report.flows.map(({ flow, family, result }) => `${family} ${flow} ${result}`),
      ["IPv4", "IPv6"].flatMap((family) => ALL.map((flow) => `${family} ${flow} proved`)),
    );
  });
}

testWhen(MISSING, "verify without flags: a missing jump escapes, a direction without rules is reported", async () => {
  await using pair = await Pair.create([4]);
  await apply(pair.pod, ["-u", "1337", "-i", "*", "-b", "*"]);
  await pair.pod.shell("iptables-nft -t nat -D PREROUTING -p tcp -j ISTIO_INBOUND");
  const broken = await verify(pair.pod, ["--probe-timeout", "3s"]);
  assert.equal(broken.code, 126);
  assert.match(broken.stderr, /^error: Traffic escapes: inbound; /m);
  assert.match(broken.stderr, /^ {2}not as planned: .*missing: -A PREROUTING -p tcp -j ISTIO_INBOUND$/m);
  await apply(pair.pod, ["-u", "1337", "-i", "*"]);
  const one = await verify(pair.pod, []);
  assert.equal(one.code, 0, one.stderr);
  assert.match(one.stderr, /warning iptables: inbound connections are not captured/);
  const required = await pair.pod.mesh(["iptables", "verify", "--require", "both"]);
  assert.equal(required.code, 126);
  assert.match(required.stderr, /^error: The rules do not capture inbound connections; --require both was given/m);
});

testWhen(MISSING, "verify exits with 126 where neither direction is captured", async () => {
  await using pair = await Pair.create([4]);
  const without = await verify(pair.pod, []);
  await apply(pair.pod, ["-u", "1337"]);
  for (const { code, proved, stderr } of [without, await verify(pair.pod, []), await verify(pair.pod, ["-i", ""])]) {
    assert.deepEqual([code, proved], [126, false]);
    assert.match(stderr, /^error: Neither inbound nor outbound connections are captured; /m);
  }
});

testWhen(MISSING, "apply says what it adds, repairs and removes", async () => {
  await using pair = await Pair.create([4]);
  const run = async (...flags: string[]) => {
    const { code, stderr } = await pair.pod.say(["iptables", "apply", ...flags]);
    assert.equal(code, 0, stderr);
    return stderr;
  };
  const first = await run("-i", "*", "-b", "*");
  assert.match(first, /Added: IPv4, table nat, chain PREROUTING: -A PREROUTING -p tcp -j ISTIO_INBOUND\n/);
  assert.doesNotMatch(first, /Repaired|Removed|warning|Istio config/);
  await pair.pod.shell("iptables-nft -t nat -D PREROUTING -p tcp -j ISTIO_INBOUND");
  const second = await run("-i", "*", "-b", "*");
  assert.match(second, /Repaired: IPv4, table nat, chain PREROUTING: missing: -A PREROUTING -p tcp -j ISTIO_INBOUND\n/);
  assert.doesNotMatch(second, /Added|Removed|warning/);
  const bare = await run();
  assert.match(bare, /warning iptables: These settings capture neither inbound nor outbound connections/);
  assert.match(bare, /Removed: IPv4, table nat, chain PREROUTING: -A PREROUTING -p tcp -j ISTIO_INBOUND\n/);
  assert.match(bare, /warning iptables: Removing the capture of inbound and outbound connections/);
});

/** Terminates a program as soon as it has made a link. The exit code is the program's. */
const ENDED_AFTER_ITS_LINK = `before=$(ip -o link); "$@" & pid=$!
while kill -0 $pid 2>/dev/null && [ "$(ip -o link)" = "$before" ]; do sleep 0.05; done
kill -TERM $pid; wait $pid`;

testWhen(MISSING ?? NEEDS_BINARY, "verify ends at a signal and leaves nothing", async () => {
  await using pair = await Pair.create([4]);
  const before = await pair.pod.shell("ip -o link");
  const program = [MESH_COMMAND, "iptables", "verify", ...FLAGS, "--probe-timeout", "60s"];
  const { code, stderr } = await pair.pod.run("sh", ["-c", ENDED_AFTER_ITS_LINK, "sh", ...program]);
  assert.equal(code, 130);
  assert.match(stderr, /Interrupted before every flow was proved/);
  assert.equal(await pair.pod.shell("ip -o link"), before);
});

testWhen(MISSING, "verify waits for rules", async () => {
  await using pair = await Pair.create();
  const links = () => pair.pod.shell("ip -o link");
  const before = await links();
  const report = verify(pair.pod, [...FLAGS, "--probe-timeout", "60s"]);
  await until(async () => await links() !== before, "verify made no link");
  await apply(pair.pod, FLAGS);
  assert.equal((await report).code, 0);
});

testWhen(MISSING, "--dry-run --run-validation prints the rules and runs the validation", async () => {
  await using pair = await Pair.create();
  const dry = ["istio-iptables", ...FLAGS, "--dry-run", "--run-validation", "--probe-timeout", "1s"];
  const { code, stdout } = await pair.pod.mesh(dry);
  assert.equal(code, 126);
  assert.match(stdout, /^\* nat\n-N ISTIO_INBOUND\n/);
});

for (const { name, flags, missing } of BACK_ENDS) {
  testWhen(
    missing ?? MISSING,
    `--dry-run --cleanup-only by ${name}: names what it would remove, and changes nothing`,
    async () => {
      await using pair = await Pair.create();
      const settings = [...FLAGS, ...flags, "-m", "TPROXY"];
      await apply(pair.pod, settings);
      const before = await pair.pod.shell("nft -s list ruleset; ip rule");
      const { code, stdout } = await pair.pod.say(["istio-iptables", ...settings, "--dry-run", "--cleanup-only"]);
      assert.equal(code, 0);
      assert.match(stdout, /-X ISTIO_OUTPUT|table inet istio-proxy-nat/);
      assert.match(stdout, /^# ip rule del fwmark 1337 lookup 133/m);
      assert.equal(await pair.pod.shell("nft -s list ruleset; ip rule"), before);
    },
  );

  testWhen(missing ?? MISSING, `all programs enter --network-namespace, ${name}`, async () => {
    await using pair = await Pair.create();
    const settings = [...FLAGS, ...flags, "-m", "TPROXY", "--network-namespace", pair.pod.path];
    const state =
      "nft -s list ruleset; iptables-legacy-save; ip rule; ip -6 rule; (ip route show table all; ip -o addr) | grep -v fe80";
    const before = await pair.outside.shell(state);
    await apply(pair.outside, settings);
    assert.equal(await pair.outside.shell(state), before);
    assert.match(await pair.pod.shell("ip rule; ip -6 rule"), /fwmark 0x539 lookup 133[^]*fwmark 0x539 lookup 133/);
    const { flows } = await verify(pair.outside, settings);
    assert.deepEqual(new Set(flows.map(({ result }) => result)), new Set(["proved"]));
    const generated = await pair.outside.say(["iptables", "generate", ...settings, "--output", "json"]);
    assert.deepEqual(JSON.parse(generated.stdout).families, ["IPv4", "IPv6"]);
    assert.equal((await pair.outside.mesh(["iptables", "clean", "--network-namespace", pair.pod.path])).code, 0);
    assert.doesNotMatch(await pair.pod.shell("nft list ruleset; iptables-legacy-save; ip rule"), /istio|fwmark/i);
  });
}

testWhen(MISSING, "a wrong --network-namespace is an error", async () => {
  await using pair = await Pair.create();
  const { code, stderr } = await pair.pod.mesh(["iptables", "apply", "--network-namespace", "/run/netns/nobody"]);
  assert.equal(code, 1);
  assert.match(stderr, /Cannot enter the network namespace "\/run\/netns\/nobody": open: no such file or directory/);
});

testWhen(MISSING, "verify: without a route out of the pod outbound traffic cannot escape", async () => {
  await using pair = await Pair.create([4]);
  await pair.pod.shell(`ip route flush dev eth0; ip addr flush dev eth0; ip addr add ${POD[4]}/32 dev eth0`);
  const settings = ["-u", "1337", "-i", "*", "-b", "*"];
  await apply(pair.pod, settings);
  const report = await verify(pair.pod, settings);
  assert.equal(report.code, 0, report.stderr);
  assert.match(resultsOf(report).join("\n"), /IPv4 outbound: not provable, no route to the target exists/);
});

testWhen(MISSING, "verify: traffic of an excluded interface need not be captured", async () => {
  await using pair = await Pair.create([4]);
  const settings = ["-u", "1337", "-i", "*", "-b", "*", "-c", "eth+"];
  await apply(pair.pod, settings);
  const report = await verify(pair.pod, settings);
  assert.equal(report.code, 0, report.stderr);
  assert.match(resultsOf(report).join("\n"), /IPv4 outbound: not provable, .* through an excluded interface/);
});

const PRINTED: readonly (readonly [name: string, load: string, flags: readonly string[]])[] = [
  ["restore", "sed '/^# IPv6/,$d' | iptables-nft-restore --noflush", []],
  ["nft", "nft -f -", ["--native-nftables"]],
  ["commands", "sh -e", []],
  ["commands", "sh -e", ["--native-nftables"]],
];

for (const [format, load, native] of PRINTED) {
  const name = `--output ${format} ${native.join(" ")}: loaded, apply finds nothing to change`;
  testWhen(MISSING, name, async () => {
    await using pair = await Pair.create([4]);
    const settings = ["-u", "1337", "-i", "*", "-b", "80,443", "-m", "TPROXY", "-c", "eth7", "--comments", ...native];
    const isCommands = format === "commands";
    const printed = await pair.pod.say(["iptables", "generate", ...settings, "--output", format]);
    const { code, stderr } = await pair.pod.run("sh", ["-c", load], { stdin: printed.stdout });
    assert.equal(code, 0, stderr);
    if (!isCommands) {
      await pair.pod.shell("ip rule add fwmark 1337 lookup 133; ip route add local default dev lo table 133");
    }
    const again = await pair.pod.say(["istio-iptables", ...settings]);
    assert.match(again.stderr, /Nothing to change/, again.stderr);
  });
}
