import assert from "node:assert/strict";
import { envoyLogLevels } from "./envoy.ts";

Deno.test("envoyLogLevels: the last plain level and all component:level; without component:level, the deprecated flag", () => {
  const read = (words: string, old = "") => {
    const warnings: string[] = [];
    return { ...envoyLogLevels(words, old, warnings), warnings: warnings.length };
  };
  assert.deepEqual(read("warning"), { logLevel: "warning", componentLogLevel: "", warnings: 0 });
  assert.deepEqual(read("info,misc:error,debug"), { logLevel: "debug", componentLogLevel: "misc:error", warnings: 0 });
  assert.deepEqual(read("a:b,c:d", "x:y"), { logLevel: "", componentLogLevel: "a:b,c:d", warnings: 0 });
  assert.deepEqual(read("debug", "x:y"), { logLevel: "debug", componentLogLevel: "x:y", warnings: 0 });
  assert.deepEqual(read("info,a:b:c"), { logLevel: "info", componentLogLevel: "", warnings: 1 });
});
