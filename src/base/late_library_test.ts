import assert from "node:assert/strict";
import { LateLibrary } from "./late_library.ts";

Deno.test("LateLibrary loads once, and is no library before", async () => {
  let loads = 0;
  const library = new LateLibrary("sums", () => Promise.resolve({ add: (a: number, b: number) => a + b, at: ++loads }));
  assert.throws(() => library.get(), /^Error: The library sums is not loaded$/);
  await library.loaded();
  await library.loaded();
  assert.deepEqual([library.get().add(1, 2), library.get().at], [3, 1]);
});
