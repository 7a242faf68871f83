import assert from "node:assert/strict";
import { fakeWorld } from "../../../../test/support/fake_world.ts";
import type { InterfaceAddress } from "../../../platform/world.ts";
import { discoverAddresses, ipModeOf } from "./addresses.ts";

function on(name: string, ...addresses: string[]): InterfaceAddress[] {
  return addresses.map((address) => ({ name, family: address.includes(":") ? "IPv6" : "IPv4", address }));
}

const LO = on("lo", "127.0.0.1", "10.99.0.1", "::1");

function discover(interfaces: InterfaceAddress[], instanceIp = "", excluded: string[] = []) {
  return discoverAddresses(fakeWorld({ interfaces }), instanceIp, excluded);
}

Deno.test("discoverAddresses: the pod's own address, then its interfaces' addresses, without local ones and duplicates", async () => {
  const all = [...LO, ...on("eth0", "10.0.0.5", "fe80::1", "fd00::5"), ...on("net1", "169.254.0.1", "::ffff:10.2.0.1")];
  assert.deepEqual(await discover(all, "fd00:0::5"), ["fd00::5", "10.0.0.5", "10.2.0.1"]);
  assert.deepEqual(await discover(all, "no address"), ["10.0.0.5", "fd00::5", "10.2.0.1"]);
});

Deno.test("discoverAddresses: addresses are grouped by interface", async () => {
  const all = [...on("eth0", "10.0.0.5"), ...on("net1", "10.2.0.1"), ...on("eth0", "fd00::5")];
  assert.deepEqual(await discover(all), ["10.0.0.5", "fd00::5", "10.2.0.1"]);
});

Deno.test("discoverAddresses: excluded interfaces do not count", async () => {
  const all = [...LO, ...on("eth0", "10.0.0.5"), ...on("net1", "10.2.0.1")];
  assert.deepEqual(await discover(all, "10.0.0.5", ["net1", "absent"]), ["10.0.0.5"]);
});

Deno.test("discoverAddresses: without interfaces the loopback addresses follow the pod's own", async () => {
  assert.deepEqual(await discover(LO), ["127.0.0.1", "::1"]);
  assert.deepEqual(await discover(LO, "10.0.0.5"), ["10.0.0.5", "127.0.0.1", "::1"]);
});

Deno.test("discoverAddresses: waits for an interface's address, with a timeout", async () => {
  const early = fakeWorld({ interfaces: [...LO, ...on("eth0", "0.0.0.0")] });
  assert.deepEqual(await discoverAddresses(early, "10.0.0.5", []), ["10.0.0.5", "127.0.0.1", "::1"]);
  assert.ok(early.clock.monotonic() >= 120_000);
  const base = fakeWorld();
  const late = {
    ...base,
    network: {
      ...base.network,
      interfaces: () => on("eth0", base.clock.monotonic() < 3000 ? "0.0.0.0" : "10.0.0.5"),
    },
  };
  assert.deepEqual(await discoverAddresses(late, "", []), ["10.0.0.5"]);
});

Deno.test("ipModeOf: by the families of all addresses", () => {
  assert.equal(ipModeOf(["10.0.0.1", "10.0.0.2"]), "ipv4");
  assert.equal(ipModeOf(["fd00::1"]), "ipv6");
  assert.equal(ipModeOf(["fd00::1", "10.0.0.1"]), "dual");
});
