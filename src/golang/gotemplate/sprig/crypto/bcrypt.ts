/** sprig's hashes of passwords. */
import { LateLibrary } from "../../../../base/late_library.ts";
import { byteLength } from "../../bytes.ts";

/** `loaded()` comes before a hash is made. */
export const bcryptLibrary = new LateLibrary("bcryptjs", () => import("bcryptjs"));

const COST = 10;
const MAX_BYTES = 72;

/** The hash of a password with a fresh salt, as Go writes it (version 2a). For a password that is too long, sprig's text. */
export function bcrypt(password: string): string {
  if (byteLength(password) > MAX_BYTES) {
    return "failed to encrypt string with bcrypt: bcrypt: password length exceeds 72 bytes";
  }
  if (!password.isWellFormed()) return "failed to encrypt string with bcrypt: the password is not UTF-8";
  const { genSaltSync, hashSync } = bcryptLibrary.get();
  return hashSync(password, genSaltSync(COST).replace(/^\$2b/, "$$2a"));
}

/** A line of an htpasswd file. For a user with a colon, sprig's text. */
export function htpasswd(user: string, password: string): string {
  return user.includes(":") ? `invalid username: ${user}` : `${user}:${bcrypt(password)}`;
}
