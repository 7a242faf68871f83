import assert from "node:assert/strict";
import { isShared, onceForShared, share } from "./shared_value.ts";
import { newMap, type Value, type ValueMap } from "../value.ts";

function mapOf(entries: Record<string, Value>): ValueMap {
  return Object.assign(newMap(), entries);
}

Deno.test("all that is in a shared value is shared, what has it inside is not", () => {
  const inner = mapOf({ a: 1 });
  const list = [inner];
  const outer = mapOf({ list });
  share(list);
  assert.deepEqual([inner, list, outer, "a", null].map(isShared), [true, true, false, false, false]);
});

Deno.test("a question is asked once about a shared value, each time about another", () => {
  const [kept, other] = [mapOf({ a: 1 }), mapOf({ a: 1 })];
  share(kept);
  const asked: Value[] = [];
  const count = onceForShared((value) => asked.push(value));
  assert.deepEqual([count(kept), count(kept), count(other), count(other), count("a")], [1, 1, 2, 3, 4]);
  assert.deepEqual(asked, [kept, other, other, "a"]);
});
