import assert from "node:assert/strict";
import { refusalsIn } from "./admin.ts";

function dump(...configs: unknown[]): string {
  return JSON.stringify({ configs });
}

Deno.test("refusalsIn() has listener and reason, without duplicates, in one line", () => {
  // What Envoy 1.40 answers: the reason comes by the name, and once more without.
  const text = dump(
    { "@type": "x", name: "good" },
    { name: "web", error_state: { details: "error adding listener:\n no filter chains specified" } },
    { error_state: { details: "error adding listener:\n no filter chains specified" } },
    { error_state: { details: "something else" } },
  );
  assert.deepEqual(refusalsIn(text), [
    'listener "web": error adding listener: no filter chains specified',
    "something else",
  ]);
});

Deno.test("refusalsIn() is bounded", () => {
  const many = Array.from(
    { length: 50 },
    (_, index) => ({ error_state: { details: `${index}${"x".repeat(10_000)}` } }),
  );
  const found = refusalsIn(dump(...many));
  assert.deepEqual(found.map(({ length }) => length), [500, 500, 500, 500, 500]);
});

for (const text of ["", "{}", "[]", "null", '{"configs":{}}', '{"configs":[1,null,{"error_state":1}]}']) {
  Deno.test(`refusalsIn() finds nothing in ${text}`, () => assert.deepEqual(refusalsIn(text), []));
}
