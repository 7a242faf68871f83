import assert from "node:assert/strict";
import { fakeWorld } from "../../../test/support/fake_world.ts";
import { runIptables } from "../mod.ts";
import { PLAN } from "./plan_schema.ts";

/** Together they have every kind of condition and of target. */
const SETTINGS: readonly (readonly string[])[] = [
  [],
  ["-m", "TPROXY", "-i", "*", "-b", "*", "-d", "15090,8080"],
  ["-m", "TPROXY", "-i", "10.0.0.0/8", "-x", "10.1.0.0/16", "-b", "80,443", "-o", "9090", "-q", "8081"],
  ["-i", "*", "-b", "*", "--redirect-dns", "--capture-all-dns", "--dual-stack", "-u", "1337", "-g", "1337"],
  ["-i", "*", "-b", "80", "--redirect-dns", "--drop-invalid", "-k", "eth1,eth2", "-c", "eth3"],
];

const POD = {
  interfaces: [
    { name: "eth0", family: "IPv4", address: "10.1.1.1" },
    { name: "eth0", family: "IPv6", address: "2001:db8::7" },
  ],
  files: {
    "/etc/passwd": "app:x:1000:1000\n",
    "/etc/group": "java:x:201:\n",
    "/etc/resolv.conf": "nameserver 10.0.0.10\n",
  },
  env: { ISTIO_OUTBOUND_OWNER_GROUPS: "java", ISTIO_OUTBOUND_OWNER_GROUPS_EXCLUDE: "202" },
} as const;

for (const flags of SETTINGS) {
  Deno.test(`generate --output json ${flags.join(" ")}: what is printed is as the schema says`, async () => {
    const world = fakeWorld(POD);
    await runIptables(world, { mode: "generate", isDropIn: false }, [...flags, "--output", "json"]);
    PLAN.parse(JSON.parse(world.said.stdout));
  });
}

Deno.test("generate --output table: on a terminal of 80 columns each rule is a block of lines", async () => {
  const wide = fakeWorld(POD);
  await runIptables(wide, { mode: "generate", isDropIn: false }, ["-b", "*", "--output", "table"]);
  const narrow = fakeWorld({ ...POD, terminal: true, columns: 80 });
  await runIptables(narrow, { mode: "generate", isDropIn: false }, ["-b", "*", "--output", "table"]);
  const lines = narrow.said.stdout.split("\n");
  assert.deepEqual(lines.filter((line) => line.length > 80), []);
  assert.equal(
    lines.filter((line) => line.startsWith("  rule  ")).length,
    wide.said.stdout.trimEnd().split("\n").length - 1,
  );
});
