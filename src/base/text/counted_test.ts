import assert from "node:assert/strict";
import { counted } from "./counted.ts";

Deno.test("one has no plural", () => {
  assert.deepEqual([0, 1, 2].map((count) => counted(count, "pod")), ["0 pods", "1 pod", "2 pods"]);
});
