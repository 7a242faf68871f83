import assert from "node:assert/strict";
import { networkOf } from "./network_of.ts";

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
