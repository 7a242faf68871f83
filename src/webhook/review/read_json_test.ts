import assert from "node:assert/strict";
import { fc } from "../../../test/support/properties.ts";
import { sameValue } from "../../base/values/mod.ts";
import { isMap } from "../../base/value.ts";
import { readJson } from "./read_json.ts";
import { ReviewError } from "./request.ts";

const read = (text: string) => readJson(new TextEncoder().encode(text));

Deno.test("readJson keeps integers exact, and floats as JSON.parse does", () => {
  assert.deepEqual(read("[1,-2,1.5,1e3]"), [1, -2, 1.5, 1000]);
  assert.deepEqual(read("[9007199254740993,-9223372036854775808,18446744073709551615]"), [
    9007199254740993n,
    -9223372036854775808n,
    18446744073709551615n,
  ]);
  assert.deepEqual(read('["9007199254740993",0.12345678901234567890]'), ["9007199254740993", 0.12345678901234568]);
});

Deno.test("readJson treats names of JavaScript properties as keys", () => {
  const map = read('{"__proto__":{"a":1},"constructor":2}');
  assert.deepEqual(Object.keys(map ?? {}), ["__proto__", "constructor"]);
  assert.equal(isMap(map) && "toString" in map, false);
});

const REFUSED: readonly (readonly [name: string, text: string, reason: string])[] = [
  ["no JSON", '{"a":', "invalid-review"],
  ["a number beyond floats", "[1e999]", "invalid-review"],
  ["lists 201 deep", "[".repeat(201) + "]".repeat(201), "too-large"],
  ["lists a million deep", "[".repeat(1_000_000) + "]".repeat(1_000_000), "too-large"],
  [
    "mappings as deep, and a long number",
    '{"a":'.repeat(5000) + "12345678901234567890" + "}".repeat(5000),
    "too-large",
  ],
  ["too many values", `[${"0,".repeat(100_000)}0]`, "too-large"],
];

for (const [name, text, reason] of REFUSED) {
  Deno.test(`readJson refuses ${name}`, () => {
    assert.throws(() => read(text), (error) => error instanceof ReviewError && error.reason === reason);
  });
}

Deno.test("readJson accepts lists 200 deep", () => {
  assert.doesNotThrow(() => read("[".repeat(200) + "]".repeat(200)));
});

Deno.test("readJson accepts what JSON.parse accepts", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
      const text = JSON.stringify(value);
      assert.ok(sameValue(read(text), JSON.parse(text)));
    }),
  );
});

Deno.test("readJson(): brackets are counted before they are parsed, in texts they are not", () => {
  const bytes = (text: string) => new TextEncoder().encode(text);
  for (
    const [text, problem] of [["[".repeat(8_000_000), /200 levels deep/], [
      `[${"1,".repeat(4_000_000)}`,
      /100000 values/,
    ]] as const
  ) {
    assert.throws(() => readJson(bytes(text)), (error) => error instanceof ReviewError && problem.test(error.message));
  }
  const quoted = '\\"['.repeat(1000);
  assert.deepEqual(readJson(bytes(JSON.stringify([quoted]))), [quoted]);
});
