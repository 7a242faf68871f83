import assert from "node:assert/strict";
import { fc } from "../../../test/support/properties.ts";
import { sameValue } from "../../base/values/mod.ts";
import type { PatchOperation } from "../../kube/mod.ts";
import { readJson } from "./read_json.ts";
import { patchText, responseText } from "./response.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);

Deno.test("patchText is the JSON of the patch with exact integers", () => {
  const patch: PatchOperation[] = [
    { op: "add", path: "/a~1b", value: { n: 9007199254740993n, list: [null, true, 1.5, [], {}] } },
    { op: "replace", path: '/"\\', value: 'a "quote", a \\ and \u2028 <&>' },
    { op: "remove", path: "/x" },
  ];
  const text = '[{"op":"add","path":"/a~1b","value":{"n":9007199254740993,"list":[null,true,1.5,[],{}]}},' +
    '{"op":"replace","path":"/\\"\\\\","value":"a \\"quote\\", a \\\\ and \u2028 <&>"},{"op":"remove","path":"/x"}]';
  assert.equal(patchText(patch), text);
});

Deno.test("patchText round-trips every value", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.string({ unit: "binary" }), (value, path) => {
      const text = patchText([{ op: "add", path, value: readJson(bytesOf(JSON.stringify(value))) }]);
      assert.ok(sameValue(readJson(bytesOf(text)), JSON.parse(JSON.stringify([{ op: "add", path, value }]))));
    }),
  );
});

Deno.test("messages and warnings are at most as long as the API server shows", () => {
  const identity = { apiVersion: "admission.k8s.io/v1", uid: "u" };
  const refused = JSON.parse(responseText(identity, { allowed: false, message: "x".repeat(5000) }));
  assert.equal(refused.response.status.message.length, 2048);
  const warnings = ["a\n  b", ...Array.from({ length: 40 }, () => "y".repeat(300))];
  const allowed = JSON.parse(responseText(identity, { allowed: true, patch: [], warnings }));
  assert.equal(allowed.response.warnings.length, 16);
  assert.equal(allowed.response.warnings[0], "a; b");
  assert.equal(allowed.response.warnings[1].length, 256);
});
