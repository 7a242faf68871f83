import assert from "node:assert/strict";
import { flagsText, readFlags } from "./installation.ts";

Deno.test("flags of an installation survive the annotation, with blanks and quotes", () => {
  const flags = [
    "--image=example.com/mesh:1",
    "--take-over",
    "--namespace-selector=team in (a,b)",
    "--values=it's.yaml",
  ];
  assert.deepEqual(readFlags(flagsText(flags)), flags);
});

for (
  const text of [
    "",
    "[]",
    "{}",
    "[1]",
    '["apply"]',
    '["-f"]',
    '["--image=a\\nb"]',
    JSON.stringify([`--image=${"a".repeat(5000)}`]),
  ]
) {
  Deno.test(`no flags of an installation: ${text.slice(0, 20)}`, () => assert.equal(readFlags(text), undefined));
}
