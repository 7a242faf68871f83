import assert from "node:assert/strict";
import { excludedAddresses } from "./verify.ts";

Deno.test("excludedAddresses(): names and prefixes of names", () => {
  const interfaces = [
    { name: "eth0", family: "IPv4", address: "10.0.0.1" },
    { name: "eth1", family: "IPv6", address: "fd00::1" },
    { name: "net1", family: "IPv4", address: "10.0.0.3" },
  ] as const;
  assert.deepEqual([...excludedAddresses(interfaces, ["eth0"])], ["10.0.0.1"]);
  assert.deepEqual([...excludedAddresses(interfaces, ["lo", "eth+"])], ["10.0.0.1", "fd00::1"]);
  assert.deepEqual([...excludedAddresses(interfaces, [])], []);
});
