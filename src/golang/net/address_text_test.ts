import assert from "node:assert/strict";
import { parseAddress, parseCidr } from "./parse.ts";
import {
  addressBytes,
  addressIn,
  addressText,
  blockHolds,
  cidrText,
  isLinkLocal,
  isLoopback,
  maskedBlock,
  networkOf,
  unmapped,
} from "./address_text.ts";

function address(text: string) {
  const read = parseAddress(text);
  assert.ok(typeof read !== "string", text);
  return read;
}

function cidr(text: string) {
  const read = parseCidr(text);
  assert.ok(typeof read !== "string", text);
  return read;
}

Deno.test("addressBytes, addressIn: 4 or 16 bytes in network byte order", () => {
  for (const [text, hex] of [["10.1.2.255", "0a0102ff"], ["2001:db8::1", `20010db8${"0".repeat(23)}1`]] as const) {
    const bytes = addressBytes(address(text));
    assert.deepEqual([bytes.toHex(), addressIn(bytes)], [hex, address(text)]);
  }
});

Deno.test("addressText: as netip prints", () => {
  const cases = [
    ["10.1.1.1", "10.1.1.1"],
    ["2001:DB8:0:0:0:0:0:1", "2001:db8::1"],
    ["::127.0.0.53", "::7f00:35"],
    ["::ffff:10.0.0.1", "::ffff:10.0.0.1"],
    ["1:0:0:2:0:0:0:3", "1:0:0:2::3"],
    ["1:0:2:3:4:5:6:7", "1:0:2:3:4:5:6:7"],
    ["0:0:1:2:3:4:5:6", "::1:2:3:4:5:6"],
    ["::", "::"],
    ["fe80::1%eth0", "fe80::1%eth0"],
  ] as const;
  for (const [text, printed] of cases) assert.equal(addressText(address(text)), printed);
});

Deno.test("cidrText keeps host bits, maskedBlock drops them", () => {
  assert.equal(cidrText(cidr("10.1.2.3/8")), "10.1.2.3/8");
  assert.equal(cidrText(maskedBlock(cidr("10.1.2.3/8"))), "10.0.0.0/8");
  assert.equal(cidrText(maskedBlock(cidr("10.1.2.3/0"))), "0.0.0.0/0");
  assert.equal(cidrText(maskedBlock(cidr("2001:db8::1/128"))), "2001:db8::1/128");
});

Deno.test("blockHolds: of the same family only", () => {
  assert.equal(blockHolds(cidr("10.0.0.0/8"), address("10.9.9.9")), true);
  assert.equal(blockHolds(cidr("10.0.0.0/8"), address("11.0.0.0")), false);
  assert.equal(blockHolds(cidr("::/0"), address("10.0.0.1")), false);
});

Deno.test("isLoopback, isLinkLocal, unmapped", () => {
  assert.deepEqual(["127.9.9.9", "::1", "::6", "10.0.0.1"].map((text) => isLoopback(address(text))), [
    true,
    true,
    false,
    false,
  ]);
  const linkLocal = ["169.254.1.1", "fe80::1", "224.0.0.5", "ff02::1", "10.0.0.1", "2001:db8::1"];
  assert.deepEqual(linkLocal.map((text) => isLinkLocal(address(text))), [true, true, true, true, false, false]);
  assert.equal(addressText(unmapped(address("::ffff:10.0.0.1"))), "10.0.0.1");
});

const CASES: readonly (readonly [address: string, network: string])[] = [
  ["10.0.0.1", "10.0.0.1"],
  ["::ffff:10.0.0.1", "10.0.0.1"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"],
  ["2001:db8::1", "2001:db8::"],
  ["2001:db8:1:2::", "2001:db8:1:2::"],
  ["::1", "::"],
  ["unknown", "unknown"],
];

for (const [address, network] of CASES) {
  Deno.test(`networkOf(): ${address}`, () => assert.equal(networkOf(address), network));
}
