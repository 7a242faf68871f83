import assert from "node:assert/strict";
import { fc } from "../../../test/support/properties.ts";
import type { Value } from "../../base/value.ts";
import { parseYaml } from "../../yaml/mod.ts";
import { decode } from "./decode.ts";
import { fits } from "./fits.ts";

const ROWS: readonly (readonly [text: string, expected: boolean])[] = [
  [
    "{kind: Pod, metadata: {name: a, labels: {a: b}}, spec: {containers: [{name: a, ports: [{containerPort: 80}]}]}}",
    true,
  ],
  ["{metadata: null, spec: {containers: [null], nodeSelector: {a: null}}}", true],
  [
    "{spec: {containers: [{resources: {limits: {cpu: 100m, memory: 1}}, livenessProbe: {httpGet: {port: http}}}]}}",
    true,
  ],
  ["{metadata: {labels: {a: 1}}}", false],
  ["{metadata: {labels: [a]}}", false],
  ["{spec: {containers: [{ports: [{containerPort: http}]}]}}", false],
  ["{spec: {containers: [{resources: {limits: {cpu: much}}}]}}", false],
  ["{spec: {hostNetwork: yes please}}", false],
  ["{spec: text}", false],
  ["[]", false],
  // `decode` accepts these values too, but changes them.
  ["{Spec: {}}", false],
  ["{spec: {ours: 1}}", false],
];

for (const [text, expected] of ROWS) {
  Deno.test(`fits: ${text}`, () => {
    const value = parseYaml(text);
    assert.equal(fits(value, "Pod"), expected);
    if (expected) assert.deepEqual(decode(value, "Pod", "strict").problems, []);
  });
}

const NAMES = ["name", "ports", "env", "value", "containerPort", "resources", "limits", "command", "securityContext"];

Deno.test("decode finds no problem in data that fits", () => {
  const { value } = fc.letrec<{ value: Value }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom<Value>(null, true, 1, 1.5, -7n, "a", "100m", "8080"),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom(...NAMES), tie("value"), { noNullPrototype: false }),
    ),
  }));
  let fitting = 0;
  fc.assert(
    fc.property(value, (container) => {
      if (!fits(container, "Container")) return;
      fitting++;
      assert.deepEqual(decode(container, "Container", "strict").problems, []);
    }),
    { numRuns: 2000 },
  );
  assert.ok(fitting > 50, `${fitting}`);
});
