import assert from "node:assert/strict";
import { Names } from "./names.ts";

Deno.test("Names: an inner name hides the outer one until its block ends", () => {
  const names = new Names<number>();
  names.declare("$a", 1);
  const outer = names.count;
  names.declare("$a", 2);
  names.declare("$b", 3);
  assert.deepEqual([names.find("$a"), names.find("$b")], [2, 3]);
  names.endBlock(outer);
  assert.deepEqual([names.find("$a"), names.find("$b"), names.count], [1, undefined, 1]);
});

Deno.test("Names: a hundred thousand names are found at once", () => {
  const names = new Names<number>();
  for (let index = 0; index < 100_000; index++) names.declare(`$${index}`, index);
  for (let index = 0; index < 100_000; index++) assert.equal(names.find(`$${index}`), index);
});
