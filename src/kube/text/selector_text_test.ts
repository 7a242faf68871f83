import assert from "node:assert/strict";
import { selectorExpressions } from "./selector_text.ts";

const SELECTORS: Readonly<Record<string, object[]>> = {
  "": [],
  " ": [],
  "team": [{ key: "team", operator: "Exists" }],
  "!team": [{ key: "team", operator: "DoesNotExist" }],
  "example.com/team=a": [{ key: "example.com/team", operator: "In", values: ["a"] }],
  "team == a": [{ key: "team", operator: "In", values: ["a"] }],
  "team!=a": [{ key: "team", operator: "NotIn", values: ["a"] }],
  "team=": [{ key: "team", operator: "In", values: [""] }],
  "team in (b, a,a)": [{ key: "team", operator: "In", values: ["a", "b"] }],
  "a, b notin (c,d) ,!e": [
    { key: "a", operator: "Exists" },
    { key: "b", operator: "NotIn", values: ["c", "d"] },
    { key: "e", operator: "DoesNotExist" },
  ],
};

for (const [text, expected] of Object.entries(SELECTORS)) {
  Deno.test(`the selector "${text}" has the meaning of kubectl`, () => {
    assert.deepEqual(selectorExpressions(text, "--x"), expected);
  });
}

for (const text of ["=a", "a=b=c", "a in b", "a in (b", "a,,b", "a=!", "-a", "a in (-)", "a b", "a>1"]) {
  Deno.test(`the selector "${text}" is rejected`, () => {
    assert.throws(() => selectorExpressions(text, "--x"), {
      name: "UsageError",
      message: /^Invalid selector ".*" in "--x"$/,
    });
  });
}
