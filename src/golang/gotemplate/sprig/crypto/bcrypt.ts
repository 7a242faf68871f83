/** sprig's hashes of passwords. */
import { LateLibrary } from "../../../../base/late_library.ts";
import { byteLength } from "../../bytes.ts";

/** Await `loaded()` before making a hash. */
export const bcryptLibrary = new LateLibrary("bcryptjs", () => import("bcryptjs"));

const COST = 10;
const MAX_BYTES = 72;

/**
 * The hash of a password with a fresh salt, as Go writes it (version 2a); sprig's error text for a password that is too
 * long.
 */
export function bcrypt(password: string): string {
  if (byteLength(password) > MAX_BYTES) {
    return "failed to encrypt string with bcrypt: bcrypt: password length exceeds 72 bytes";
  }
  if (!password.isWellFormed()) return "failed to encrypt string with bcrypt: the password is not UTF-8";
  const { genSaltSync, hashSync } = bcryptLibrary.get();
  return hashSync(password, genSaltSync(COST).replace(/^\$2b/, "$$2a"));
}

/** A line of an htpasswd file; sprig's error text for a user with a colon. */
export function htpasswd(user: string, password: string): string {
  return user.includes(":") ? `invalid username: ${user}` : `${user}:${bcrypt(password)}`;
}
