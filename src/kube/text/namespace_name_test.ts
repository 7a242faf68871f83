import assert from "node:assert/strict";
import { isNamespaceName } from "./namespace_name.ts";

Deno.test("isNamespaceName() accepts up to 63 lower-case letters, digits and - between them", () => {
  for (const text of ["a", "1-20", "shop", "a".repeat(63)]) assert.ok(isNamespaceName(text), text);
  for (const text of ["", "Shop", "a_b", "a.b", "-a", "a-", "a\n", "a".repeat(64)]) {
    assert.ok(!isNamespaceName(text), text);
  }
});
