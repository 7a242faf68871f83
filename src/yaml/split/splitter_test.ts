import assert from "node:assert/strict";
import { MeshError } from "../../base/errors.ts";
import { Splitter } from "./splitter.ts";

Deno.test("Splitter.markUnreadable() makes the first problem only, because a file may have one in every line", () => {
  const splitter = new Splitter("a.yaml", 100);
  splitter.markUnreadable(() => new MeshError("first"));
  splitter.markUnreadable(() => assert.fail("a second problem is made"));
  const documents = [...splitter.take("a: 1\n"), ...splitter.end()];
  assert.deepEqual(documents.map(({ problem }) => problem?.message), ["first"]);
});
