import assert from "node:assert/strict";
import { fc } from "../../test/support/properties.ts";
import { pair, style, value, withComments } from "../../test/oracle/yaml/arbitrary.ts";
import type { Value } from "../base/value.ts";
import { editDocument } from "./edit/edit.ts";
import { parseDocument } from "./read/parse.ts";
import { sameValue } from "../base/values/mod.ts";
import { toYaml } from "./write/to_yaml.ts";

const RUNS = 1500;
function checkEdit(source: string, next: Value): void {
  const parsed = parseDocument({ text: source });
  const edited = editDocument(parsed, next);
  const again = parseDocument({ text: edited }).value;
  assert.ok(sameValue(again, next), `${JSON.stringify(source)} -> ${JSON.stringify(edited)}`);
}

Deno.test("editDocument() of block documents reads as the new value", () => {
  fc.assert(
    fc.property(pair, style, fc.boolean(), ([old, next], options, comments) => {
      const source = toYaml(old, options);
      checkEdit(comments ? withComments(source) : source, next);
      checkEdit(source.trimEnd(), next);
    }),
    { numRuns: RUNS },
  );
});

Deno.test("editDocument() of JSON documents reads as the new value", () => {
  fc.assert(
    fc.property(pair, fc.constantFrom(0, 2, 4), ([old, next], indent) => {
      checkEdit(JSON.stringify(old, (_, item) => typeof item === "bigint" ? Number(item) : item, indent), next);
    }),
    { numRuns: RUNS },
  );
});

Deno.test("editDocument() without a change keeps every byte", () => {
  fc.assert(
    fc.property(value, style, (old, options) => {
      const source = withComments(toYaml(old, options));
      assert.equal(editDocument(parseDocument({ text: source }), parseDocument({ text: source }).value), source);
    }),
    { numRuns: 300 },
  );
});
