import assert from "node:assert/strict";
import { socketAddress } from "./socket_address.ts";

Deno.test("socketAddress: host and port; the node's address for $(HOST_IP) where it is known", () => {
  assert.deepEqual(socketAddress("z:9411", "10.1.1.1"), { address: "z", port_value: 9411 });
  assert.deepEqual(socketAddress("[fd00::1]:1", ""), { address: "fd00::1", port_value: 1 });
  assert.deepEqual(socketAddress("$(HOST_IP):1", "fd00::1"), { address: "fd00::1", port_value: 1 });
  assert.deepEqual(socketAddress("$(HOST_IP):1", ""), { address: "$(HOST_IP)", port_value: 1 });
});
