/** Where probes come from, in a network namespace of its own. */
import assert from "node:assert/strict";
import { needsProgram, testWhen } from "../../support/test_when.ts";

const DRIVER = decodeURIComponent(new URL("support/probe_source.ts", import.meta.url).pathname);
const missing = Deno.build.os !== "linux"
  ? "not Linux"
  : Deno.uid() === 0
  ? needsProgram("unshare") ?? needsProgram("ip")
  : "needs root";

/** Runs the driver where the loopback interface is up and these commands were run. */
async function probe(host: string, ...commands: readonly string[]) {
  const run = `'${Deno.execPath()}' run --quiet --no-check --allow-all '${DRIVER}' ${host}`;
  const script = ["ip link set lo up", ...commands, run].join(" && ");
  const { success, stdout, stderr } = await new Deno.Command("unshare", { args: ["--net", "sh", "-c", script] })
    .output();
  assert.ok(success, new TextDecoder().decode(stderr));
  return JSON.parse(new TextDecoder().decode(stdout));
}

testWhen(missing, "probes of an IPv6 application come from ::6 if istio-iptables added it", async () => {
  const { codes, seen, warnings } = await probe("::1", "ip -6 addr add ::6/128 dev lo nodad");
  assert.deepEqual({ codes, seen, warnings }, { codes: [200, 200, 200], seen: ["::6", "::6", "::6"], warnings: [] });
});

testWhen(
  missing,
  "without ::6 probes use another source address, with one warning",
  async () => {
    const { codes, seen, warnings } = await probe("::1");
    assert.deepEqual([codes, seen], [[200, 200, 200], ["::1", "::1", "::1"]]);
    assert.deepEqual(warnings, [
      "cannot use the source address ::6: bind: cannot assign requested address; traffic capture may redirect them",
    ]);
  },
);

testWhen(missing, "probes of an IPv4 application come from 127.0.0.6, also to the address of a pod", async () => {
  // The kernel sends what is for an own address over the loopback interface, whichever interface has it.
  const { codes, seen } = await probe("10.9.8.7", "ip addr add 10.9.8.7/32 dev lo");
  assert.deepEqual([codes, seen], [[200, 200, 200], ["127.0.0.6", "127.0.0.6", "127.0.0.6"]]);
});
