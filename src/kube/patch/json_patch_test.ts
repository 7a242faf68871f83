import assert from "node:assert/strict";
import { applyPatch } from "../../../test/support/kube/json_patch.ts";
import { fc } from "../../../test/support/properties.ts";
import { sameValue } from "../../base/values/mod.ts";
import { newMap, type Value } from "../../base/value.ts";
import { jsonPatch } from "./json_patch.ts";

interface Row {
  readonly name: string;
  readonly before: Value;
  readonly after: Value;
  /** Operation, path, and the value as JSON if there is one. */
  readonly patch: readonly string[];
}

const named = (...names: string[]) => names.map((name) => ({ name }));

const ROWS: readonly Row[] = [
  { name: "equal values", before: { a: [1, { b: null }] }, after: { a: [1, { b: null }] }, patch: [] },
  { name: "two empty lists", before: { a: [] }, after: { a: [] }, patch: [] },
  { name: "a number and the same bigint", before: [5], after: [5n], patch: [] },
  { name: "keys", before: { a: 1, b: 2 }, after: { b: 3, c: 4 }, patch: ["remove /a", "replace /b 3", "add /c 4"] },
  { name: "escapes", before: {}, after: { "a/b~1": "x" }, patch: ['add /a~1b~01 "x"'] },
  { name: "null that becomes something", before: { a: null }, after: { a: 1 }, patch: ["add /a 1"] },
  { name: "something that becomes null", before: { a: 1 }, after: { a: null }, patch: ["replace /a null"] },
  { name: "a key with null", before: {}, after: { a: null }, patch: ["add /a null"] },
  { name: "other kinds", before: { a: {} }, after: { a: [] }, patch: ["replace /a []"] },
  { name: "the whole value", before: [1], after: "x", patch: ['replace  "x"'] },
  {
    name: "a container in front",
    before: { containers: named("app") },
    after: { containers: named("istio-proxy", "app") },
    patch: ['add /containers/0 {"name":"istio-proxy"}'],
  },
  {
    name: "a container at the end and a change in another",
    before: { c: [{ name: "app", env: [{ name: "A", value: "1" }, { name: "B", value: "2" }] }] },
    after: { c: [{ name: "app", env: [{ name: "A", value: "1" }, { name: "B", value: "3" }] }, { name: "p" }] },
    patch: ['replace /c/0/env/1/value "3"', 'add /c/1 {"name":"p"}'],
  },
  {
    name: "a container that goes before one that stays and changes",
    before: { c: [{ name: "a" }, { name: "b", x: 1 }] },
    after: { c: [{ name: "b", x: 2 }] },
    patch: ["remove /c/0", "replace /c/0/x 2"],
  },
  {
    name: "a container that moves",
    before: { c: named("a", "b", "c") },
    after: { c: named("b", "c", "a") },
    patch: ["remove /c/0", 'add /c/2 {"name":"a"}'],
  },
  {
    name: "ports by their number where they have no names",
    before: [{ containerPort: 80 }, { containerPort: 81, hostPort: 1 }],
    after: [{ containerPort: 81, hostPort: 2 }],
    patch: ["remove /0", "replace /0/hostPort 2"],
  },
  {
    name: "names that occur twice identify nothing",
    before: [{ name: "A", value: "1" }, { name: "A", value: "2" }, { name: "B", value: "a longer text" }],
    after: [{ name: "A", value: "1" }, { name: "A", value: "3" }, { name: "B", value: "a longer text" }],
    patch: ['replace /1/value "3"'],
  },
  {
    name: "a word in front of others",
    before: ["--first", "--second"],
    after: ["--zeroth", "--first", "--second"],
    patch: ['add /0 "--zeroth"'],
  },
  { name: "short words", before: ["a", "b"], after: ["b", "c"], patch: ['replace  ["b","c"]'] },
  {
    name: "a word that changes",
    before: ["-u", "1"],
    after: ["-u", "2"],
    patch: ['replace /1 "2"'],
  },
  { name: "nothing in common", before: named("a"), after: named("b"), patch: ['replace  [{"name":"b"}]'] },
  { name: "an empty list that gets elements", before: [], after: ["x"], patch: ['replace  ["x"]'] },
];

for (const { name, before, after, patch } of ROWS) {
  Deno.test(`jsonPatch: ${name}`, () => {
    const operations = jsonPatch(before, after);
    const described = operations.map((each) =>
      [each.op, each.path, ...each.op === "remove" ? [] : [JSON.stringify(each.value)]].join(" ")
    );
    assert.deepEqual(described, patch);
    assert.ok(sameValue(applyPatch(before, operations), after));
  });
}

Deno.test("jsonPatch does not compare shared objects", () => {
  const shared = newMap();
  Object.defineProperty(shared, "a", { enumerable: true, get: () => assert.fail("it was read") });
  assert.deepEqual(jsonPatch({ x: 1, shared }, { x: 2, shared }), [{ op: "replace", path: "/x", value: 2 }]);
});

const scalar = fc.oneof(
  fc.constantFrom<Value>(null, true, false, "", "a", "1"),
  fc.integer(),
  fc.bigInt({ min: -(2n ** 65n), max: 2n ** 65n }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.string(),
);
const key = fc.oneof(
  fc.constantFrom("name", "containerPort", "a/b", "~1", "~", "", "0", "-", "__proto__"),
  fc.string(),
);
const id = fc.constantFrom<Value>("a", "b", "c", 1, 2n, "1", null);

function mapping(entries: readonly (readonly [string, Value])[]): Value {
  const map = newMap();
  for (const [name, value] of entries) map[name] = value;
  return map;
}

const { value } = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    scalar,
    fc.array(tie("value"), { maxLength: 6 }),
    fc.array(fc.tuple(key, tie("value")), { maxLength: 5 }).map(mapping),
    fc.array(fc.tuple(id, tie("value")).map(([name, item]) => mapping([["name", name], ["v", item]])), {
      maxLength: 6,
    }),
    fc.array(fc.tuple(id, scalar).map(([port, item]) => mapping([["containerPort", port], ["v", item]]))),
  ),
}));

Deno.test("jsonPatch: its application gives exactly the other value", () => {
  fc.assert(
    fc.property(value, value, (before, after) => {
      assert.ok(sameValue(applyPatch(before, jsonPatch(before, after)), after));
    }),
    { numRuns: 2000 },
  );
});

const lists = fc.uniqueArray(fc.nat(12), { maxLength: 12 }).chain((before) =>
  fc.tuple(fc.constant(before), fc.shuffledSubarray([...before, 20, 21, 22]))
);

Deno.test("jsonPatch of a keyed list moves only elements outside a common order", () => {
  fc.assert(
    fc.property(lists, fc.boolean(), ([before, after], keyed) => {
      const items = (numbers: readonly number[]): Value[] => keyed ? numbers.map((name) => ({ name })) : [...numbers];
      const operations = jsonPatch(items(before), items(after));
      assert.ok(sameValue(applyPatch(items(before), operations), items(after)));
      assert.ok(operations.length <= before.length + after.length);
    }),
    { numRuns: 1000 },
  );
});
