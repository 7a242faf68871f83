import assert from "node:assert/strict";
import { testShared } from "../../../test/support/test_when.ts";
import { isMap, type Value } from "../../base/value.ts";
import { parseYaml } from "../../yaml/mod.ts";
import { canonicalQuantity, compareQuantities, isQuantity, parseQuantity, scaledValue } from "./quantity.ts";

function read(text: string) {
  const quantity = parseQuantity(text);
  assert(quantity !== undefined, text);
  return quantity;
}

Deno.test("compareQuantities: by value, whatever the suffixes", () => {
  const values = ["-1Gi", "-1", "-1m", "0", "1n", "1m", "0.5", "1", "1k", "1Ki", "1025", "1e6", "1Mi", "1e999999"];
  for (const [i, a] of values.entries()) {
    for (const [j, b] of values.entries()) {
      assert.equal(Math.sign(compareQuantities(read(a), read(b))), Math.sign(i - j), `${a} ${b}`);
    }
  }
  assert.equal(compareQuantities(read("1000m"), read("1")), 0);
  assert.equal(compareQuantities(read("1024Mi"), read("1Gi")), 0);
});

Deno.test("scaledValue: rounds away from zero, at most an int64", () => {
  assert.equal(scaledValue(read("1500m"), 0), 2n);
  assert.equal(scaledValue(read("-1500m"), 0), -2n);
  assert.equal(scaledValue(read("1.5"), -3), 1500n);
  assert.equal(scaledValue(read("1e999999999"), 0), 2n ** 63n - 1n);
});

Deno.test("isQuantity: rejects other texts, also long ones at once", () => {
  assert.equal(isQuantity("100m"), true);
  assert.equal(isQuantity("100 m"), false);
  assert.equal(isQuantity("1".repeat(100_000) + "!"), false);
  assert.equal(isQuantity("1e-999999999"), true);
});

// The recorded answers of Kubernetes' code are in ../testdata/quantity.jsonl.
testShared("cases/inject/extra/quantities", "canonicalQuantity: the shared table", (folder) => {
  const limits = (file: string): Value => {
    const document = parseYaml(Deno.readTextFileSync(`${folder}/${file}`).replace(/^---$/m, ""));
    return ["spec", "containers", "0", "resources", "limits"].reduce<Value>((at, key) => Object(at)[key], document);
  };
  const input = limits("input.yaml");
  const expected = limits("expected.yaml");
  assert(isMap(input) && isMap(expected) && Object.keys(input).length >= 39);
  for (const key in input) assert.equal(canonicalQuantity(String(input[key])), expected[key], key);
});
