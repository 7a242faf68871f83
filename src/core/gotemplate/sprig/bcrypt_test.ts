import assert from "node:assert/strict";
import { bcrypt } from "./bcrypt.ts";

Deno.test("bcrypt gives the hashes of the reference implementation", () => {
  // From the test vectors of OpenBSD's bcrypt: the salt is the first 22 characters after the cost.
  const salt = Uint8Array.from([
    0x10,
    0x41,
    0x04,
    0x10,
    0x41,
    0x04,
    0x10,
    0x41,
    0x04,
    0x10,
    0x41,
    0x04,
    0x10,
    0x41,
    0x04,
    0x10,
  ]);
  const cases: [string, string][] = [
    ["U*U", "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"],
    ["U*U*", "$2a$05$CCCCCCCCCCCCCCCCCCCCC.VGOzA784oUp/Z0DY336zx7pLYAy0lwK"],
  ];
  for (const [password, expected] of cases) assert.equal(bcrypt(new TextEncoder().encode(password), salt, 5), expected);
});
