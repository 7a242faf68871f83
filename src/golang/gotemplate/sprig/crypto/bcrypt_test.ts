import assert from "node:assert/strict";
import bcryptjs from "bcryptjs";
import { bcrypt, bcryptLibrary, htpasswd } from "./bcrypt.ts";

Deno.test("bcrypt() writes version 2a with cost 10, and the hash is the password's", async () => {
  await bcryptLibrary.loaded();
  for (const password of ["U*U", "", "pässword", "x".repeat(72)]) {
    const hash = bcrypt(password);
    assert.match(hash, /^\$2a\$10\$[./A-Za-z0-9]{53}$/);
    assert(bcryptjs.compareSync(password, hash));
  }
  assert.notEqual(bcrypt("a"), bcrypt("a"));
});

Deno.test("bcrypt() refuses passwords that are too long or not UTF-8", async () => {
  await bcryptLibrary.loaded();
  assert.match(bcrypt("ä".repeat(37)), /password length exceeds 72 bytes$/);
  assert.match(bcrypt("\udcff"), /the password is not UTF-8$/);
});

Deno.test("htpasswd() refuses a user with a colon", async () => {
  await bcryptLibrary.loaded();
  assert.equal(htpasswd("a:b", "c"), "invalid username: a:b");
  assert.match(htpasswd("ann", "c"), /^ann:\$2a\$10\$/);
});
