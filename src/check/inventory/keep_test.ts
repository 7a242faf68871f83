import assert from "node:assert/strict";
import type { Value } from "../../core/value.ts";
import { fields, named, shared, whole } from "./keep.ts";

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
  const first = keep({ a: { b: 1n }, c: 1 });
  assert.equal(keep({ a: { b: 1n }, c: 2 }), first);
  const others: Value[] = [{ a: { b: "1" } }, { a: { b: 1 } }, { a: null }, {}];
  for (const other of others) assert.notEqual(keep(other), first);
});
