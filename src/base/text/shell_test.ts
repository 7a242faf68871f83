import assert from "node:assert/strict";
import { shellQuoted } from "./shell.ts";

Deno.test("shellQuoted() quotes what a shell would read", () => {
  const cases = [["a/b=c.d", "a/b=c.d"], ["", "''"], ["a b", "'a b'"], ["it's", `'it'\\''s'`], [
    "$(x)",
    "'$(x)'",
  ]] as const;
  for (const [text, quoted] of cases) assert.equal(shellQuoted(text), quoted);
});
