import assert from "node:assert/strict";
import { fc } from "../../../test/support/properties.ts";
import { copyValue, sameValue } from "./same_value.ts";
import type { Value } from "../value.ts";
import { valueHash } from "./value_hash.ts";

const ROWS: readonly (readonly [name: string, a: Value, b: Value])[] = [
  ["the order of keys", { a: 1, b: [2] }, { b: [2], a: 1 }],
  ["a bigint and a number", 9007199254740993n, 9007199254740992],
  ["zero and minus zero", 0, -0],
];

for (const [name, a, b] of ROWS) {
  Deno.test(`valueHash: ${name} makes no difference`, () => assert.equal(valueHash(a), valueHash(b)));
}

Deno.test("valueHash: values that differ have different hashes", () => {
  const values: Value[] = [null, true, false, 0, 1, "", "1", "null", [], {}, [[]], [{}], [1, 2], [2, 1], { a: 1 }, {
    a: "1",
  }];
  assert.equal(new Set(values.map(valueHash)).size, values.length);
});

Deno.test("valueHash: equal values have the same hash", () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => {
    const copy = JSON.parse(JSON.stringify(value));
    assert.ok(sameValue(copyValue(copy), copy));
    assert.equal(valueHash(copyValue(copy)), valueHash(copy));
  }));
});
