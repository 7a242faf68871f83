import assert from "node:assert/strict";
import { type Answer, ourAnswer, type Request, sameAnswer } from "../../../test/oracle/gotemplate/oracle.ts";

const recorded: readonly (Request & Answer)[] = JSON.parse(
  Deno.readTextFileSync(new URL("../../../test/oracle/gotemplate/testdata/templates.json", import.meta.url)),
);

Deno.test("parse and render: text and errors of every recorded template are Go's", () => {
  assert.ok(recorded.length >= 600);
  const wrong = recorded.flatMap((one) => {
    const us = ourAnswer(one);
    return sameAnswer(us, one) ? [] : [{ template: one.template, go: one.out ?? one.error, us: us.out ?? us.error }];
  });
  assert.deepEqual(wrong, []);
});
