import assert from "node:assert/strict";
import { decode } from "../../kube/mod.ts";
import { isMap } from "../../base/value.ts";
import { parseYaml } from "../../yaml/mod.ts";
import { conform } from "./conform.ts";

function conformed(text: string) {
  const manifest = parseYaml(text);
  assert.ok(isMap(manifest));
  return conform(manifest, decode(manifest, "Pod").value, "Pod");
}

Deno.test("a null in a map of strings stays: kubectl apply removes the key, but not one with an empty text", () => {
  const before = parseYaml("metadata: {labels: {a: }}\nspec: {nodeSelector: {b: null}}\n");
  const { manifest, misread } = conformed("metadata: {labels: {a: }}\nspec: {nodeSelector: {b: null}}\n");
  assert.deepEqual(manifest, before);
  assert.deepEqual(misread, []);
});

Deno.test("a boolean in a map of strings becomes a text, with a warning", () => {
  const { manifest, misread } = conformed("metadata: {labels: {a: true}}\n");
  assert.deepEqual(manifest, parseYaml('metadata: {labels: {a: "true"}}\n'));
  assert.deepEqual(misread.map(({ path }) => path), [["metadata", "labels", "a"]]);
});

const MESSAGES: readonly (readonly [text: string, written: string | undefined, message: string])[] = [
  [
    "1.10",
    "1.10",
    '1.10, which is a number, not a string; the output has "1.1"; to keep 1.10, write it in quotes: "1.10"',
  ],
  [
    "yes",
    "yes",
    'yes, which is a boolean, not a string; the output has "true"; to keep yes, write it in quotes: "yes"',
  ],
  ["8080", "8080", '8080, which is a number, not a string; the output has "8080"'],
  ["1.10", undefined, '1.1, which is a number, not a string; the output has "1.1"'],
  [`1.${"0".repeat(99)}`, `1.${"0".repeat(99)}`, '1, which is a number, not a string; the output has "1"'],
];

for (const [text, written, message] of MESSAGES) {
  Deno.test(`the warning about a number or boolean says what is lost: ${text}, written as ${written}`, () => {
    const { misread } = conformed(`metadata: {labels: {a: ${text}}}\n`);
    assert.deepEqual(misread.map(({ message }) => message(written, true)), [`Kubernetes rejects ${message}`]);
  });
}

const KEPT: readonly (readonly [pod: string, written: string | undefined, message: string])[] = [
  [
    "metadata: {labels: {a: 1.0}}",
    "1.0",
    'Kubernetes rejects 1.0, which is a number, not a string; write it in quotes: "1.0"',
  ],
  [
    "metadata: {labels: {a: 1.0}}",
    undefined,
    "Kubernetes rejects 1, which is a number, not a string; write it in quotes",
  ],
  ["spec: {HostNetwork: true}", undefined, 'Kubernetes does not know the field "HostNetwork"; write "hostNetwork"'],
];

for (const [pod, written, message] of KEPT) {
  Deno.test(`the warning about a field that stays as it is says what to write: ${pod}, written as ${written}`, () => {
    const { misread } = conformed(`${pod}\n`);
    assert.deepEqual(misread.map((each) => each.message(written, each.isConverted)), [message]);
  });
}
