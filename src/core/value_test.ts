import assert from "node:assert/strict";
import { isMap, newMap } from "./value.ts";

Deno.test("newMap() inherits nothing: names of JavaScript are keys like any other", () => {
  const map = newMap();
  for (const name of ["__proto__", "constructor", "toString", "hasOwnProperty", "valueOf"]) {
    assert.equal(name in map, false);
    assert.equal(map[name], undefined);
    map[name] = { value: name };
  }
  assert.equal(JSON.stringify(map["__proto__"]), '{"value":"__proto__"}');
  assert.equal(Object.keys(map).length, 5);
  assert.equal("value" in map, false);
  assert.deepEqual(Object.keys(newMap()), []);
  assert.ok(isMap(map));
});

Deno.test("newMap(): nothing can be put into what all mappings share", () => {
  const shared = Object.getPrototypeOf(newMap());
  assert.throws(() => Object.assign(shared, { polluted: 1 }), TypeError);
  assert.equal(Object.getPrototypeOf(shared), null);
});
