import assert from "node:assert/strict";
import { EXIT } from "../../base/errors.ts";
import { checkNames } from "./given_names.ts";

Deno.test("checkNames() accepts names that can exist, and empty ones", () => {
  const digest = `1.20@sha256:${"a1".repeat(32)}`;
  for (const tag of ["1.20.8", "latest", "master_2-x", digest, ""]) checkNames({ tag });
  checkNames({ namespace: "shop-1", revision: "1-20" });
  checkNames({ namespace: "", revision: "" });
  checkNames({});
});

Deno.test("checkNames() refuses other names as wrong usage, and names the flag", () => {
  const exitCode = EXIT.usage;
  assert.throws(() => checkNames({ namespace: "Shop_1" }), {
    exitCode,
    message: 'Invalid value "Shop_1" for "--namespace"',
  });
  assert.throws(() => checkNames({ revision: "Bad_Rev" }), {
    exitCode,
    message: 'Invalid value "Bad_Rev" for "--revision"',
  });
  for (const tag of ["a b", "-a", "a:b", "a@b", "a".repeat(129)]) {
    assert.throws(() => checkNames({ tag }), { exitCode, message: `Invalid value "${tag}" for "--tag"` });
  }
});
