import assert from "node:assert/strict";
import { envoyLogLevels } from "./log_level.ts";

Deno.test("envoyLogLevels: the last plain word, all of the form component:level, the old flag where there is none", () => {
  const read = (words: string, old = "") => {
    const warnings: string[] = [];
    return { ...envoyLogLevels(words, old, warnings), warnings: warnings.length };
  };
  assert.deepEqual(read("warning"), { level: "warning", components: "", warnings: 0 });
  assert.deepEqual(read("info,misc:error,debug"), { level: "debug", components: "misc:error", warnings: 0 });
  assert.deepEqual(read("a:b,c:d", "x:y"), { level: "", components: "a:b,c:d", warnings: 0 });
  assert.deepEqual(read("debug", "x:y"), { level: "debug", components: "x:y", warnings: 0 });
  assert.deepEqual(read("info,a:b:c"), { level: "info", components: "", warnings: 1 });
});
