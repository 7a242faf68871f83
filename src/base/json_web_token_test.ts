import assert from "node:assert/strict";
import { claimsOf } from "./json_web_token.ts";

Deno.test("claimsOf() decodes the payload, in the alphabet of URLs", () => {
  assert.deepEqual(claimsOf("e30.eyJhdWQiOiLDv8O_In0.x"), { aud: "ÿÿ" });
  for (const other of ["opaque", "e30.eyJhdWQiOiLDv8O_In0", "e30.e30.x.y", "a.b.c", "a.?.c", "e30.WzFd.x"]) {
    assert.equal(claimsOf(other), undefined, other);
  }
});
