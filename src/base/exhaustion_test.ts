import assert from "node:assert/strict";
import { exhaustion } from "./exhaustion.ts";
import { SystemError } from "../platform/mod.ts";

Deno.test("exhaustion() knows the kernel's errors of what is used up, and no others", () => {
  assert.deepEqual(exhaustion(new Error("Too many open files (os error 24)")), {
    reason: "this process has too many open files",
    hint: "raise the limit of open files (ulimit -n)",
  });
  for (const number of [11, 12, 23, 28, 105]) {
    assert.ok(exhaustion(new Error(`X (os error ${number}): y`)), String(number));
  }
  assert.match(exhaustion(new SystemError("getsockopt", 105))?.reason ?? "", /memory/);
  assert.equal(exhaustion(new SystemError("open", 2)), undefined);
  for (const text of ["No such file or directory (os error 2)", "os error 24", ""]) {
    assert.equal(exhaustion(new Error(text)), undefined, text);
  }
});
