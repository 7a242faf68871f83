import assert from "node:assert/strict";
import { choiceValue, durationValue, numberValue, portValue, urlValue } from "./flag_values.ts";

Deno.test("durationValue() is milliseconds, fractions too", () => {
  assert.deepEqual(["1m30s", "500ms", "0", "1.5ms"].map((text) => durationValue("t", text)), [90_000, 500, 0, 1.5]);
});

const WRONG: readonly (readonly [read: () => unknown, hint: RegExp])[] = [
  [() => durationValue("t", "60"), /^a unit is missing: it takes a duration such as "1m30s"/],
  [() => durationValue("t", "-1s"), /^it must be from 0ms to 2147483647ms/],
  [() => durationValue("t", "0", 1), /^it must be from 1ms/],
  [() => durationValue("t", "999h"), /^it must be from 0ms to 2147483647ms/],
  [() => numberValue("t", "1.5"), /^it takes a whole number from 0 to 2147483647$/],
  [() => numberValue("t", ""), /^it takes a whole number/],
  [() => numberValue("t", "0x10"), /^it takes a whole number/],
  [() => numberValue("t", "5", { least: 6, most: 7 }), /^it takes a whole number from 6 to 7$/],
  [() => portValue("t", "65536"), /^it takes a whole number from 1 to 65535$/],
  [() => choiceValue("t", "x", ["a", "b", "c"]), /^it takes "a", "b" or "c"$/],
  [() => urlValue("t", "localhost:15021"), /^it takes a URL such as "http:/],
  [() => urlValue("t", "/healthz"), /^it takes a URL such as "http:/],
];

for (const [read, hint] of WRONG) {
  Deno.test(`a value that is refused is wrong usage, and its flag is named: ${read}`, () => {
    assert.throws(read, (error) => {
      assert.ok(error instanceof Error && "hint" in error && "exitCode" in error);
      assert.match(error.message, /^The flag --t cannot be "/);
      assert.match(String(error.hint), hint);
      return error.exitCode === 2;
    });
  });
}

Deno.test("what is right is the value", () => {
  assert.equal(numberValue("t", "+42"), 42);
  assert.equal(choiceValue("t", "b", ["a", "b"]), "b");
  assert.equal(urlValue("t", "https://[::1]:1/x?y"), "https://[::1]:1/x?y");
});
