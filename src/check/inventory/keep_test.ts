import assert from "node:assert/strict";
import type { Value } from "../../base/value.ts";
import { each, fields, named, shared, sharedParts, whole } from "./keep.ts";

Deno.test("fields() keeps fields of mappings and list items, and scalars", () => {
  const keep = fields({ name: whole, ports: fields({ port: whole }) });
  assert.deepEqual(keep({ name: "a", env: [1], ports: [{ port: 1, protocol: "TCP" }, "odd", null] }), {
    name: "a",
    ports: [{ port: 1 }, "odd", null],
  });
  assert.deepEqual(keep([{ name: "a", x: 1 }, 2]), [{ name: "a" }, 2]);
  assert.equal(keep("text"), "text");
});

Deno.test("fields() ignores inherited properties", () => {
  assert.deepEqual(fields({ constructor: whole, toString: whole, name: whole })({ name: "a" }), { name: "a" });
});

Deno.test("named() keeps fields by their names", () => {
  assert.deepEqual(named(/istio/)({ "a.istio.io/b": "1", other: "2" }), { "a.istio.io/b": "1" });
});

Deno.test("shared() keeps equal values once", () => {
  const keep = shared(fields({ a: whole }));
  const first = keep({ a: { b: true }, c: 1 });
  assert.equal(keep({ a: { b: true }, c: 1 }), first);
  const others: Value[] = [{ a: { b: "1" } }, { a: { b: 1 } }, { a: null }, {}];
  for (const other of others) assert.notEqual(keep(other), first);
});

Deno.test("sharedParts() keeps mappings of equal parts once, whatever was removed", () => {
  const keep = sharedParts(fields({ a: shared(whole), b: each(shared(whole)), c: whole }));
  const first = keep({ a: { x: 1 }, b: [{ y: 1 }, "odd"], c: 1, other: 1 });
  assert.deepEqual(first, { a: { x: 1 }, b: [{ y: 1 }, "odd"], c: 1 });
  assert.equal(keep({ a: { x: 1 }, b: [{ y: 1 }, "odd"], c: 1, other: 2 }), first);
  const others: Value[] = [
    { a: { x: 2 }, b: [{ y: 1 }, "odd"], c: 1 },
    { a: { x: 1 }, b: ["odd", { y: 1 }], c: 1 },
    { a: { x: 1 }, b: [[{ y: 1 }, "odd"]], c: 1 },
    { a: { x: 1 }, b: [{ y: 1 }, "odd"], c: "1" },
    { a: { x: 1 }, b: [{ y: 1 }, "odd"] },
    [{ a: { x: 1 } }],
    {},
  ];
  for (const other of others) assert.notEqual(keep(other), first);
});

Deno.test("a keep knows the fields that it reads", () => {
  const inner = fields({ x: whole, y: named(/y/) });
  const keep = fields({ a: shared(inner), b: each(inner), c: sharedParts(inner), d: whole });
  const read = { x: true, y: true };
  assert.deepEqual(keep.fields, { a: read, b: read, c: read, d: true });
});
