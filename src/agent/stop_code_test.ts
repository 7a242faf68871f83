import assert from "node:assert/strict";
import { stopCode } from "./stop_code.ts";

const CASES: readonly (readonly [boolean | undefined, boolean, number])[] = [
  [true, true, 0],
  [true, false, 0],
  [false, true, 143],
  [false, false, 143],
  [undefined, true, 0],
  [undefined, false, 143],
];

Deno.test("stopCode() is 0 only if the proxy has worked", () => {
  for (const [wasReady, wasLive, code] of CASES) {
    assert.equal(stopCode("SIGTERM", { wasReady, wasLive }), code, `${wasReady}, ${wasLive}`);
  }
  assert.equal(stopCode("SIGQUIT", { wasReady: undefined, wasLive: false }), 0);
  assert.equal(stopCode("SIGINT", { wasReady: undefined, wasLive: false }), 130);
});
