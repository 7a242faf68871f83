import assert from "node:assert/strict";
import { ageText } from "./age.ts";

Deno.test("ageText(): the two largest units", () => {
  const texts = [0, 59.4, 60, 3_725, 273_700, -5].map(ageText);
  assert.deepEqual(texts, ["0s", "59s", "1m", "1h 2m", "3d 4h", "0s"]);
});
