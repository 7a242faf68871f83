import assert from "node:assert/strict";
import { UsageError } from "../base/errors.ts";
import { SystemError } from "../platform/mod.ts";
import { fakeWorld, type FakeWorldOptions } from "../../test/support/fake_world.ts";
import { runIptables } from "./mod.ts";
import type { Call } from "./run.ts";

const GENERATE: Call = { mode: "generate", isDropIn: false };
const APPLY: Call = { mode: "apply", isDropIn: false };
const CLEAN: Call = { mode: "clean", isDropIn: false };
const ISTIO: Call = { mode: "apply", isDropIn: true };

const POD: FakeWorldOptions = {
  interfaces: [{ name: "eth0", family: "IPv4", address: "10.1.1.1" }],
  files: { "/etc/passwd": "app:x:1000:1000\n", "/etc/group": "java:x:201:\n" },
};
const IPV6 = { name: "eth0", family: "IPv6", address: "2001:db8::7" } as const;

Deno.test("generate prints rules on stdout, logs on stderr, and drops permissions", async () => {
  const world = fakeWorld(POD);
  assert.equal(await runIptables(world, GENERATE, ["-i", "*", "-b", "80"]), 0);
  assert.match(world.said.stdout, /^\* nat\n-N ISTIO_INBOUND\n[^]*\nCOMMIT\n$/);
  assert.doesNotMatch(world.said.stdout, /info|warning/);
  assert.equal(world.said.stderr, "");
  assert.deepEqual(world.kept.names, ["read", "env", "sys"]);
  assert.deepEqual(world.runs, []);
});

const BLOCKS: readonly (readonly [what: string, call: Call, flags: readonly string[], isLogged: boolean])[] = [
  ["of Istio's program", ISTIO, ["--dry-run"], true],
  ["of the plugin", APPLY, ["--dry-run"], false],
  ["of the plugin with --log-level debug", APPLY, ["--dry-run", "--log-level", "debug"], true],
];

for (const [what, call, flags, isLogged] of BLOCKS) {
  Deno.test(`the log ${what} ${isLogged ? "has" : "does not have"} the blocks of variables and settings`, async () => {
    const world = fakeWorld(POD);
    await runIptables(world, call, [...flags, "-i", "*", "-b", "80"]);
    for (
      const block of [/Istio iptables environment:\nENVOY_PORT=\n/, /Istio config:\n[^]*INBOUND_PORTS_INCLUDE=80\n/]
    ) {
      assert.equal(block.test(world.said.stderr), isLogged, world.said.stderr);
    }
  });
}

Deno.test("generate prints IPv6 after a separator line", async () => {
  const world = fakeWorld({ ...POD, interfaces: [...POD.interfaces ?? [], IPV6] });
  await runIptables(world, GENERATE, ["--dual-stack"]);
  assert.equal(world.said.stdout.split("# IPv6\n").length, 2);
});

Deno.test("generate also writes its output to DRY_RUN_FILE_PATH", async () => {
  const world = fakeWorld({ ...POD, env: { DRY_RUN_FILE_PATH: "/tmp/rules" } });
  await runIptables(world, GENERATE, []);
  assert.equal(new TextDecoder().decode(world.content.get("/tmp/rules")), world.said.stdout);
});

const FORMATS: readonly (readonly [readonly string[], RegExp])[] = [
  [["--output", "json"], /^\{\n {2}"families": \[\n/],
  [["--output", "table"], /^FAMILY +TABLE +CHAIN +RULE +WHY\n/],
  [["--output", "commands"], /^iptables -t nat -N ISTIO_INBOUND\n/],
  [["--output", "nft"], /^add table inet istio-proxy-nat\n/],
  [["-f=false"], /^iptables -t nat -N ISTIO_INBOUND\n/],
  [["--native-nftables"], /^add table inet istio-proxy-nat\n/],
];

for (const [flags, expected] of FORMATS) {
  Deno.test(`generate ${flags.join(" ")}`, async () => {
    const world = fakeWorld(POD);
    await runIptables(world, GENERATE, flags);
    assert.match(world.said.stdout, expected);
  });
}

Deno.test("generate accepts an unknown group; apply rejects it before any change", async () => {
  const env = { ISTIO_OUTBOUND_OWNER_GROUPS: "java,golang" };
  const world = fakeWorld({ ...POD, env });
  await runIptables(world, GENERATE, []);
  assert.match(world.said.stdout, /! --gid-owner golang/);
  await assert.rejects(runIptables(fakeWorld({ ...POD, env }), APPLY, []), /the group "golang" does not exist/);
});

Deno.test("a name with shell characters is rejected", async () => {
  await assert.rejects(
    runIptables(fakeWorld(POD), GENERATE, ["-u", "a;b"]),
    /-u: "a;b" is not a valid user name/,
  );
});

Deno.test("--log_as_json logs JSON lines", async () => {
  const world = fakeWorld(POD);
  await runIptables(world, ISTIO, ["--dry-run", "--log_as_json", "--log_output_level=default:info"]);
  const records = world.said.stderr.trim().split("\n").map((line) => JSON.parse(line));
  assert.match(records[0]?.message, /^Istio iptables environment:\n/);
});

Deno.test("a wrong command line is a usage error with a suggestion", async () => {
  const wrong = (error: unknown) => error instanceof UsageError && error.exitCode === 2;
  await assert.rejects(runIptables(fakeWorld(POD), APPLY, ["--dryrun"]), wrong);
  await assert.rejects(runIptables(fakeWorld(POD), APPLY, ["--dryrun"]), /did you mean "--dry-run"\?/);
});

Deno.test("all problems are reported at once", async () => {
  const line = ["-p", "abc", "-m", "NONE", "--dry-run"];
  await assert.rejects(runIptables(fakeWorld(POD), APPLY, line), (error) => {
    assert.ok(error instanceof UsageError);
    assert.match(error.message, /^-p: /);
    assert.deepEqual(error.rest, ['-m: "NONE" is not one of REDIRECT, TPROXY']);
    return true;
  });
});

Deno.test("a wrong value of a flag or variable is a usage error", async () => {
  const wrong = (error: unknown) => error instanceof UsageError && error.exitCode === 2;
  await assert.rejects(runIptables(fakeWorld(POD), GENERATE, ["-b", "x"]), wrong);
  await assert.rejects(runIptables(fakeWorld({ ...POD, env: { ISTIO_INBOUND_PORTS: "x" } }), GENERATE, []), wrong);
});

Deno.test("an argument that is not a flag is refused, but Istio's program ignores such an argument", async () => {
  for (const args of [["80"], ["--", "80"]]) {
    await assert.rejects(runIptables(fakeWorld(POD), APPLY, ["--dry-run", ...args]), {
      name: "UsageError",
      message: 'Unexpected argument "80"',
    });
  }
  assert.equal(await runIptables(fakeWorld(POD), ISTIO, ["--dry-run", "80"]), 0);
});

Deno.test("settings that capture neither direction are a warning of apply and generate", async () => {
  for (const [call, args] of [[APPLY, ["--dry-run"]], [GENERATE, []]] as const) {
    const [nothing, one] = [fakeWorld(POD), fakeWorld(POD)];
    await runIptables(nothing, call, args);
    await runIptables(one, call, [...args, "-i", "*"]);
    assert.match(nothing.said.stderr, / warning iptables: These settings capture neither inbound nor outbound/);
    assert.equal(one.said.stderr, "");
  }
});

Deno.test("--require fails with 126 before any change", async () => {
  const world = fakeWorld(POD);
  await assert.rejects(runIptables(world, APPLY, ["-b", "*", "--require", "both"]), {
    message: "The settings do not capture outbound connections",
    exitCode: 126,
  });
  assert.deepEqual(world.runs, []);
  assert.equal(await runIptables(fakeWorld(POD), GENERATE, ["-b", "*", "--require", "inbound"]), 0);
});

Deno.test("verify without settings and without access to the rules proves nothing, and says so", async () => {
  const netlink = () => {
    throw new SystemError("socket", 1);
  };
  const world = fakeWorld({ ...POD, system: { netlink } });
  await assert.rejects(runIptables(world, { mode: "verify", isDropIn: false }, []), {
    message: /^Cannot read the settings from the rules in the kernel: /,
    exitCode: 126,
  });
});

const NO_ADDRESS: FakeWorldOptions = { interfaces: [{ name: "lo", family: "IPv4", address: "127.0.0.1" }] };

Deno.test("a pod without an address is an error of apply and of Istio's program, also in a dry run", async () => {
  for (const call of [APPLY, ISTIO]) {
    await assert.rejects(
      runIptables(fakeWorld(NO_ADDRESS), call, ["--dry-run"]),
      /only loopback and link-local addresses/,
    );
  }
});

Deno.test("generate without an address prints the rules for IPv4, and says so once", async () => {
  const flags = ["-i", "*", "-b", "80", "--dual-stack"];
  const [world, pod] = [fakeWorld(NO_ADDRESS), fakeWorld(POD)];
  assert.equal(await runIptables(world, GENERATE, flags), 0);
  assert.equal(
    world.said.stderr.match(/only loopback and link-local addresses, so the rules are for IPv4/g)?.length,
    1,
  );
  await runIptables(pod, GENERATE, flags);
  assert.equal(world.said.stdout, pod.said.stdout);
});

Deno.test("DNS servers: an invalid address is logged, and without a server DNS is not captured", async () => {
  const files = { "/etc/resolv.conf": "nameserver nonsense\n" };
  const world = fakeWorld({ ...POD, files });
  await runIptables(world, GENERATE, ["--redirect-dns"]);
  assert.match(world.said.stderr, /warning iptables: "nonsense" in \/etc\/resolv.conf is not an IP address/);
  assert.match(world.said.stderr, /does not name a DNS server, so DNS is not captured/);
  assert.doesNotMatch(world.said.stdout, /15053/);
  await assert.rejects(runIptables(fakeWorld(POD), GENERATE, ["--redirect-dns"]), {
    message: 'Cannot read "/etc/resolv.conf": no such file or directory',
  });
});

Deno.test("--network-namespace is entered before the pod is detected, for generate too", async () => {
  const entered: string[] = [];
  const system = { enterNetworkNamespace: (path: string) => void entered.push(path) };
  const world = fakeWorld({ ...POD, system });
  await runIptables(world, GENERATE, ["--network-namespace", "/run/netns/pod"]);
  assert.deepEqual(entered, ["/run/netns/pod"]);
  assert.equal(world.kept.names, undefined);
});

Deno.test("--network-namespace that cannot be entered", async () => {
  const enterNetworkNamespace = () => {
    throw new SystemError("setns", 1);
  };
  const world = fakeWorld({ ...POD, system: { enterNetworkNamespace } });
  await assert.rejects(runIptables(world, APPLY, ["--network-namespace", "/run/netns/pod"]), {
    message: 'Cannot enter the network namespace "/run/netns/pod": setns: operation not permitted',
  });
});

Deno.test("a dry run of clean without privileges warns and succeeds", async () => {
  const netlink = () => {
    throw new SystemError("socket", 1);
  };
  const world = fakeWorld({ ...POD, system: { netlink } });
  assert.equal(await runIptables(world, CLEAN, ["-n"]), 0);
  assert.equal(world.said.stdout, "");
  assert.match(world.said.stderr, /Cannot read the rules to remove: /);
});

Deno.test("--skip-rule-apply changes nothing", async () => {
  const world = fakeWorld(POD);
  assert.equal(await runIptables(world, APPLY, ["--skip-rule-apply"]), 0);
  assert.deepEqual([world.runs, world.said.stdout], [[], ""]);
});
