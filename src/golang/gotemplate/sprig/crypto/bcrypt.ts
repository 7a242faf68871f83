/** sprig's functions that hash passwords. */
import { LateLibrary } from "../../../../base/late_library.ts";
import { byteLength } from "../../../go_bytes.ts";

/** The bcrypt library. Await `loaded()` before a call of `bcrypt` or `htpasswd`. */
export const bcryptLibrary = new LateLibrary("bcryptjs", () => import("bcryptjs"));

const COST = 10;
const MAX_BYTES = 72;

/**
 * Returns the hash of a password with a fresh salt, as Go writes it (version 2a), or sprig's error text if the password
 * is too long.
 */
export function bcrypt(password: string): string {
  if (byteLength(password) > MAX_BYTES) {
    return "failed to encrypt string with bcrypt: bcrypt: password length exceeds 72 bytes";
  }
  if (!password.isWellFormed()) return "failed to encrypt string with bcrypt: the password is not UTF-8";
  const { genSaltSync, hashSync } = bcryptLibrary.get();
  return hashSync(password, genSaltSync(COST).replace(/^\$2b/, "$$2a"));
}

/** Returns a line of an htpasswd file, or sprig's error text if the user contains a colon. */
export function htpasswd(user: string, password: string): string {
  return user.includes(":") ? `invalid username: ${user}` : `${user}:${bcrypt(password)}`;
}
