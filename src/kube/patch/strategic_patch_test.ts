import assert from "node:assert/strict";
import { fc } from "../../../test/support/properties.ts";
import { sameValue } from "../../base/values/mod.ts";
import type { ValueMap } from "../../base/value.ts";
import { strategicMerge } from "./strategic_merge.ts";
import { strategicPatch } from "./strategic_patch.ts";

const plain = (value: unknown) => JSON.parse(JSON.stringify(value));

Deno.test("strategicPatch() says only what is new, changed or gone, and names what stands before it", () => {
  const before = { containers: [{ name: "a", image: "1" }, { name: "b", image: "1" }, { name: "c" }], hostname: "h" };
  const rows: readonly [ValueMap, unknown][] = [
    [before, {}],
    [{ ...before, containers: [...before.containers, { name: "p" }] }, {
      containers: [{ name: "a" }, { name: "b" }, { name: "c" }, { name: "p" }],
    }],
    [{ ...before, containers: [{ name: "p" }, ...before.containers] }, { containers: [{ name: "p" }] }],
    [{ ...before, containers: before.containers.slice(1) }, { containers: [{ name: "a", $patch: "delete" }] }],
    [{ containers: [{ name: "a", image: "2" }, ...before.containers.slice(1)] }, {
      hostname: null,
      containers: [{ name: "a", image: "2" }],
    }],
  ];
  for (const [after, patch] of rows) assert.deepEqual(plain(strategicPatch(before, after, "PodSpec")), patch);
});

Deno.test("strategicPatch() without a type replaces lists", () => {
  const after = { containers: [{ name: "a" }, { name: "p" }], labels: { a: "2" } };
  const before = { containers: [{ name: "a" }], labels: { a: "1", b: "1" } };
  assert.deepEqual(plain(strategicPatch(before, after)), {
    containers: after.containers,
    labels: { a: "2", b: null },
  });
});

Deno.test("strategicPatch() refuses a list whose elements it cannot name", () => {
  const spec = (...names: (string | null)[]) => ({ containers: names.map((name) => ({ name })) });
  const patch = (names: (string | null)[]) => () => strategicPatch(spec("a"), spec(...names), "PodSpec");
  assert.throws(patch(["b", "b"]), /two elements of "containers" have the name "b"/);
  assert.throws(patch([null]), /an element of "containers" has no "name"/);
});

const some = fc.constantFrom;
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const keyed = <T extends ValueMap>(key: string, item: fc.Arbitrary<T>) =>
  fc.uniqueArray(item, { selector: (each) => each[key], maxLength: 5 });
const ENV = keyed("name", fc.record({ name: some("A", "B", "C"), value: some("1", "2") }));
const CONTAINER = fc.record({
  name: some("a", "b", "c", "d", "e", "f"),
  image: some("1", "2"),
  env: ENV,
  ports: keyed("containerPort", fc.record({ containerPort: some(80, 81, 82), name: some("x", "y") })),
  args: fc.array(some("x", "y"), { maxLength: 2 }),
}, { requiredKeys: ["name"] });
const POD = fc.record({
  metadata: fc.record({ labels: maybe(fc.dictionary(some("a", "b", "c"), some("1", "2"))) }),
  spec: fc.record({
    containers: keyed("name", CONTAINER),
    initContainers: keyed("name", CONTAINER),
    volumes: keyed("name", fc.record({ name: some("v", "w"), emptyDir: some({}, { medium: "Memory" }) })),
    securityContext: fc.record({ fsGroup: some(1, 2), runAsUser: some(1, 2) }, { requiredKeys: [] }),
  }, { requiredKeys: ["containers"] }),
}).map((pod): ValueMap => plain(pod));

Deno.test("Kubernetes' merge of a strategicPatch() gives what it was made for, in the same order", () => {
  fc.assert(
    fc.property(POD, POD, (before, after) => {
      const merged = strategicMerge(before, strategicPatch(before, after, "Pod"), "Pod");
      assert.ok(sameValue(merged, after), JSON.stringify([before, after, merged]));
    }),
    { numRuns: 2000 },
  );
});
