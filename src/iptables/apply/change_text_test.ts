import assert from "node:assert/strict";
import { changeText } from "./change_text.ts";

const PLACE = "IPv4, table nat, chain OUTPUT";

/** The first run, then a later one. */
const ROWS: readonly (readonly [difference: string, first: string, later?: string])[] = [
  [
    `${PLACE}: missing: -A OUTPUT -j X`,
    `Added: ${PLACE}: -A OUTPUT -j X`,
    `Repaired: ${PLACE}: missing: -A OUTPUT -j X`,
  ],
  ["table inet a, chain b: missing", "Added: table inet a, chain b", "Repaired: table inet a, chain b: missing"],
  [`${PLACE}: unexpected: -A OUTPUT -j X`, `Removed: ${PLACE}: -A OUTPUT -j X`],
  ["table inet a, chain b: unexpected", "Removed: table inet a, chain b"],
  ["unexpected table inet a", "Removed: table inet a"],
  ["needed: ip -6 rule add fwmark 1", "Added: ip -6 rule add fwmark 1", "Repaired: needed: ip -6 rule add fwmark 1"],
  ["needed: ip -6 rule del fwmark 1", "Removed: ip -6 rule del fwmark 1"],
  ["needed: ip route del local default", "Removed: ip route del local default"],
];

for (const [difference, first, later = first] of ROWS) {
  Deno.test(`changeText("${difference}")`, () => {
    assert.deepEqual([changeText(difference, true), changeText(difference, false)], [first, later]);
  });
}
