import assert from "node:assert/strict";
import { compareUtf8, goJson, goJsonParse, OrderedFields } from "./go_json.ts";
import { GoInt, type GoValue, pure } from "./go_value.ts";

Deno.test("goJson writes scalars as encoding/json", () => {
  const cases: [GoValue, string][] = [
    [null, "null"],
    [true, "true"],
    [12345678901234567890n, "12345678901234567890"],
    [new GoInt(-3n, "int64"), "-3"],
    [1e20, "100000000000000000000"],
    [1e21, "1e+21"],
    [0.000001, "0.000001"],
    [1e-7, "1e-7"],
    [-0, "-0"],
    [1.5, "1.5"],
    ['<a&b>\u2028"\\\n\t\b\f\u0001\u007f', '"\\u003ca\\u0026b\\u003e\\u2028\\"\\\\\\n\\t\\b\\f\\u0001\u007f"'],
    ["a\udcffb\ufffd\u{1f600}", '"a\\ufffdb\ufffd\u{1f600}"'],
  ];
  for (const [value, expected] of cases) assert.equal(goJson(value), expected);
});

Deno.test("goJson sorts maps by UTF-8 and keeps the order of struct fields", () => {
  assert.equal(
    goJson({ "\uff5e": 1, "\u{1f600}": 2, b: 3, a: 4, 10: 5, 9: 6 }),
    '{"10":5,"9":6,"a":4,"b":3,"\uff5e":1,"\u{1f600}":2}',
  );
  assert.equal(goJson(new OrderedFields([["z", 1n], ["a", [{ y: 1n, x: 2n }]]])), '{"z":1,"a":[{"x":2,"y":1}]}');
});

Deno.test("goJson indents as MarshalIndent: empty containers stay closed", () => {
  const text = goJson({ b: [1n, {}], a: [] }, { indent: "  " });
  assert.equal(text, '{\n  "a": [],\n  "b": [\n    1,\n    {}\n  ]\n}');
});

Deno.test("goJson without HTML escaping still escapes line separators", () => {
  assert.equal(goJson("<\u2029>", { escapeHtml: false }), '"<\\u2029>"');
});

Deno.test("goJson refuses what JSON cannot represent", () => {
  assert.throws(() => goJson(NaN), /^Error: json: unsupported value: NaN$/);
  assert.throws(() => goJson([-Infinity]), /unsupported value: -Inf/);
  assert.throws(() => goJson({ f: pure([], () => null) }), /unsupported type: func/);
});

Deno.test("goJsonParse: floats, last duplicate wins, data keys only", () => {
  const value = goJsonParse(' {"a": 1, "a": 2, "__proto__": [null, "x\\ud800"]} ');
  assert.ok(typeof value === "object" && value !== null);
  assert.equal(Object.getPrototypeOf(value), null);
  assert.deepEqual(Object.entries(value), [["a", 2], ["__proto__", [null, "x\ufffd"]]]);
});

Deno.test("goJsonParse says why and where a text is not JSON", () => {
  const cases: [string, RegExp][] = [
    ["", /^invalid JSON: Unexpected end of JSON input$/],
    ["{a", /^invalid JSON: .* at position 1 /],
    ["01", /^invalid JSON: .* at position 1 /],
    ["[1e999]", /^invalid JSON: a number is beyond float64$/],
    ["[".repeat(1e6) + "]".repeat(1e6), /^invalid JSON: Maximum call stack size exceeded$/],
  ];
  for (const [text, message] of cases) assert.throws(() => goJsonParse(text), { message }, text.slice(0, 10));
});

Deno.test("compareUtf8 orders as bytes do", () => {
  const sorted = ["", "A", "a", "ab", "\u00e9", "\ud7ff", "\ue000", "\uffff", "\u{10000}"];
  assert.deepEqual([...sorted].reverse().sort(compareUtf8), sorted);
});
