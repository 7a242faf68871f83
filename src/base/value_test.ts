import assert from "node:assert/strict";
import { intAt, isMap, listAt, mapAt, mapsAt, newMap, textAt, textsAt, valueAt, type ValueMap } from "./value.ts";

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

Deno.test("mapAt() and its kin give the value of their type, or an empty one", () => {
  const map: ValueMap = { map: { key: "v" }, list: [{ a: 1 }, "text", null], text: "t", int: 2, long: 3n, none: null };
  assert.deepEqual(mapAt(map, "map"), { key: "v" });
  assert.deepEqual(listAt(map, "list"), [{ a: 1 }, "text", null]);
  assert.deepEqual(mapsAt(map, "list"), [{ a: 1 }]);
  assert.deepEqual(textsAt(map, "list"), ["text"]);
  assert.equal(textAt(map, "text"), "t");
  assert.equal(intAt(map, "int"), 2);
  assert.equal(intAt(map, "long"), 3);
  for (const key of ["none", "absent"]) {
    assert.deepEqual(Object.keys(mapAt(map, key)), []);
    assert.deepEqual([listAt(map, key), mapsAt(map, key), textsAt(map, key)], [[], [], []]);
    assert.equal(textAt(map, key), "");
    assert.equal(intAt(map, key), undefined);
  }
  assert.deepEqual([mapsAt(map, "map"), textAt(map, "int"), intAt(map, "text")], [[], "", undefined]);
  assert.throws(() => Object.assign(mapAt(map, "absent"), { shared: 1 }), TypeError);
});

Deno.test("valueAt() follows a path of keys through mappings", () => {
  const map = { a: { b: { c: 1 }, list: [{ c: 1 }] } };
  assert.equal(valueAt(map, "a", "b", "c"), 1);
  assert.equal(valueAt(map), map);
  assert.equal(valueAt(map, "a", "x", "c"), undefined);
  assert.equal(valueAt(map, "a", "list", "c"), undefined);
});
