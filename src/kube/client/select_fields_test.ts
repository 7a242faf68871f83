import assert from "node:assert/strict";
import { type Fields, selectFields, selectionOf } from "./select_fields.ts";

const POD: Exclude<Fields, true> = {
  kind: true,
  items: { metadata: { name: true, labels: true }, spec: { containers: { name: true } }, empty: {} },
};

/** The kept part of a text. */
function selected(text: string, fields = POD): string {
  const bytes = new TextEncoder().encode(text);
  return new TextDecoder().decode(bytes.subarray(0, selectFields(bytes, selectionOf(fields))));
}

const CASES: readonly (readonly [name: string, text: string, kept: string])[] = [
  ["an empty mapping", "{}", "{}"],
  ["only removed fields", '{"a":1,"b":[{}]}', "{}"],
  ["a removed field before a kept one", '{"a":{"kind":"x"},"kind":"PodList"}', '{"kind":"PodList"}'],
  ["a removed field behind a kept one", '{"kind":"PodList","a":null}', '{"kind":"PodList"}'],
  ["a removed field between kept ones", '{"kind":1,"a":[[1,"]"]],"items":[]}', '{"kind":1,"items":[]}'],
  ["scalars", '{"kind":-1.5e3,"a":true,"items":false}', '{"kind":-1.5e3,"items":false}'],
  ["white space", ' { "a" : 1 , "kind" :\n"x" , "items" : [ ] } \n', '{"kind":"x","items":[]} \n'],
  [
    "fields of list items",
    '{"items":[{"metadata":{"uid":"1","name":"a"}},{"spec":{"volumes":[],"containers":[{"env":[],"name":"b"}]}}]}',
    '{"items":[{"metadata":{"name":"a"}},{"spec":{"containers":[{"name":"b"}]}}]}',
  ],
  [
    "a whole mapping",
    '{"items":[{"metadata":{"labels":{"uid":"1"}}}]}',
    '{"items":[{"metadata":{"labels":{"uid":"1"}}}]}',
  ],
  ["a mapping without its fields", '{"items":[{"empty":{"a":1}}]}', '{"items":[{"empty":{}}]}'],
  ["quotes and brackets in strings", '{"a":"}\\"]{\\\\","kind":"\\"{é€𝄞"}', '{"kind":"\\"{é€𝄞"}'],
  ["a name that is longer, shorter or other", '{"kinds":1,"kin":2,"kine":3,"kind":4}', '{"kind":4}'],
  ["items of any type", '{"items":[1,"a",null,[{"uid":1}],{"uid":1}]}', '{"items":[1,"a",null,[{"uid":1}],{}]}'],
  ["a value that is no mapping", '["a"]', '["a"]'],
  ["a string", '"a"', '"a"'],
];

for (const [name, text, kept] of CASES) {
  Deno.test(`selectFields() keeps the wanted part: ${name}`, () => {
    assert.equal(selected(text), kept);
    JSON.parse(kept);
  });
}

Deno.test("selectFields() keeps long values", () => {
  const long = JSON.stringify(`"${"ab\\".repeat(100)}`);
  assert.equal(selected(`{"a":${long},"kind":${long},"b":${long}}`), `{"kind":${long}}`);
});

Deno.test("what is no JSON is never read as if it were", () => {
  const whole = '{"kind":"PodList","a":{"b":["c",1]},"items":[{"metadata":{"name":"a","uid":"1"}}]}';
  for (let length = 0; length < whole.length; length++) {
    assert.throws(() => JSON.parse(selected(whole.slice(0, length))), SyntaxError, whole.slice(0, length));
  }
  for (
    const text of ['{"kind" 1}', "{kind:1}", '{"kind":1]', '{"kind":1}}', '{"items":[{}}', '{"kind":1}{}', '{"a":1 2}']
  ) {
    assert.throws(() => JSON.parse(selected(text)), SyntaxError, text);
  }
});
