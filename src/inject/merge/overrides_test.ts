import assert from "node:assert/strict";
import { newMap, textAt } from "../../base/value.ts";
import { keptOverrides } from "./overrides.ts";
import { withAnnotations } from "../pod/change.ts";

function kept(text: string) {
  return keptOverrides(withAnnotations(newMap(), { "proxy.istio.io/overrides": text }));
}

const READ: readonly (readonly [string, string])[] = [
  ["null", " | "],
  ["{}", " | "],
  ['{"containers":null}', " | "],
  ['{"containers":[{"name":"a","resources":{}}],"initContainers":[{"name":"b"}]}', "a | b"],
];

for (const [text, wanted] of READ) {
  Deno.test(`keptOverrides: ${text}`, () => {
    const { containers, initContainers } = kept(text);
    const names = [containers, initContainers].map((list) => list.map((item) => textAt(item, "name")).join(" "));
    assert.equal(names.join(" | "), wanted);
    assert.ok(containers.every((container) => container["resources"] === undefined));
  });
}

const WRONG: readonly (readonly [string, RegExp])[] = [
  ["x", /is invalid/],
  ["[]", /not a JSON object/],
  ['{"containers":{}}', /"containers" is not a list/],
  ['{"initContainers":"a"}', /"initContainers" is not a list/],
];

for (const [text, message] of WRONG) {
  Deno.test(`keptOverrides: ${text} is an error`, () => {
    assert.throws(() => kept(text), message);
  });
}
