import assert from "node:assert/strict";
import { parseAddress } from "../../core/net.ts";
import { addressText } from "./address_text.ts";

function text(address: string): string {
  const read = parseAddress(address);
  assert.ok(typeof read !== "string");
  return addressText(read);
}

Deno.test("addressText: the examples of RFC 5952 and what Go prints", () => {
  const cases = {
    "10.0.0.1": "10.0.0.1",
    "2001:0DB8:0000:0000:0000:0000:0000:0001": "2001:db8::1",
    "2001:db8:0:1:1:1:1:1": "2001:db8:0:1:1:1:1:1",
    "2001:0:0:1:0:0:0:1": "2001:0:0:1::1",
    "2001:db8:0:0:1:0:0:1": "2001:db8::1:0:0:1",
    "0:0:0:0:0:0:0:0": "::",
    "0:0:0:0:0:0:0:1": "::1",
    "fe80:0:0:0:0:0:0:0": "fe80::",
    "1:0:0:0:10:0:0:0": "1::10:0:0:0",
    "::ffff:10.1.2.3": "::ffff:10.1.2.3",
    "fe80::1%eth0": "fe80::1%eth0",
  };
  for (const [address, wanted] of Object.entries(cases)) assert.equal(text(address), wanted, address);
});
