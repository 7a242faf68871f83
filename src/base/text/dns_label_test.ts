import assert from "node:assert/strict";
import { isDnsLabel } from "./dns_label.ts";

Deno.test("isDnsLabel() accepts up to 63 lower-case letters, digits and - between them", () => {
  for (const text of ["a", "1-20", "shop", "a".repeat(63)]) assert.ok(isDnsLabel(text), text);
  for (const text of ["", "Shop", "a_b", "a.b", "-a", "a-", "a\n", "a".repeat(64)]) assert.ok(!isDnsLabel(text), text);
});
