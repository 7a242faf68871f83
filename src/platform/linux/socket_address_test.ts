import assert from "node:assert/strict";
import { parseAddress } from "../../golang/net/mod.ts";
import { endpointBytes, endpointOf, interfaceBytes } from "./socket_address.ts";

for (const text of ["10.1.2.3", "255.0.0.1", "2001:db8::6", "::1"]) {
  Deno.test(`endpointOf() reads what endpointBytes() writes of ${text}`, () => {
    const address = parseAddress(text);
    assert.ok(typeof address !== "string");
    assert.deepEqual(endpointOf(endpointBytes({ address, port: 15006 })), { address, port: 15006 });
  });
}

Deno.test("endpointBytes() is sockaddr_in: family, then port and address in network order", () => {
  const bytes = endpointBytes({ address: { family: 4, value: 0x7f000001n, zone: "" }, port: 0x3a99 });
  assert.deepEqual([...bytes.subarray(0, 8)], [2, 0, 0x3a, 0x99, 127, 0, 0, 1]);
});

Deno.test("interfaceBytes() is sockaddr_ll of an interface", () => {
  assert.deepEqual([...interfaceBytes(5).subarray(0, 8)], [17, 0, 0, 3, 5, 0, 0, 0]);
});
