import assert from "node:assert/strict";
import { fakeWorld } from "../../../../test/support/fake_world.ts";
import { readSettings } from "../../settings/read.ts";
import { networkView, socketAddress } from "./addresses.ts";

async function view(dualStack: boolean, ...addresses: string[]) {
  const [first = "", ...others] = addresses;
  const settings = await readSettings(
    fakeWorld({
      env: { INSTANCE_IP: first, ISTIO_DUAL_STACK: String(dualStack) },
      interfaces: [first, ...others].map((address) => ({ name: "eth0", family: "IPv4", address })),
    }),
    [],
    { name: "agent" },
  );
  const { localhost, wildcard, additional, dnsLookupFamily } = networkView(settings);
  return [localhost, wildcard, additional?.wildcard, dnsLookupFamily];
}

Deno.test("networkView: one family", async () => {
  assert.deepEqual(await view(true, "10.0.0.5"), ["127.0.0.1", "0.0.0.0", undefined, "V4_ONLY"]);
  assert.deepEqual(await view(true, "fd00::5"), ["::1", "::", undefined, "V6_ONLY"]);
});

Deno.test("networkView: both families mean IPv4 without dual stack; with it the first address decides", async () => {
  assert.deepEqual(await view(false, "fd00::5", "10.0.0.5"), ["127.0.0.1", "0.0.0.0", undefined, "V4_ONLY"]);
  assert.deepEqual(await view(true, "fd00::5", "10.0.0.5"), ["::1", "::", "0.0.0.0", "ALL"]);
  assert.deepEqual(await view(true, "10.0.0.5", "fd00::5"), ["127.0.0.1", "0.0.0.0", "::", "ALL"]);
});

Deno.test("socketAddress: host and port; $(HOST_IP) is the node's address if known", () => {
  assert.deepEqual(socketAddress("z:9411", "10.1.1.1"), { address: "z", port_value: 9411 });
  assert.deepEqual(socketAddress("[fd00::1]:1", ""), { address: "fd00::1", port_value: 1 });
  assert.deepEqual(socketAddress("$(HOST_IP):1", "fd00::1"), { address: "fd00::1", port_value: 1 });
  assert.deepEqual(socketAddress("$(HOST_IP):1", ""), { address: "$(HOST_IP)", port_value: 1 });
});
