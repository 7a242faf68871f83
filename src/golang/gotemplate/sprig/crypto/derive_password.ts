/** sprig's `derivePassword`: the Master Password algorithm, which derives a site's password from a master password. */
import { joinBytes } from "../../../../base/bytes.ts";
import { bytesOf } from "../../../go_bytes.ts";
import { nodeCrypto } from "../../../../base/node_crypto.ts";

/** The input; `kind` is the name of a template such as `long`. */
export interface PasswordRequest {
  readonly counter: number;
  readonly kind: string;
  readonly password: string;
  readonly user: string;
  readonly site: string;
}

const SCOPE = "com.lyndir.masterpassword";

/** Password templates by kind. Each letter represents a class of characters. */
const TEMPLATES: ReadonlyMap<string, string> = new Map([
  ["maximum", "anoxxxxxxxxxxxxxxxxx axxxxxxxxxxxxxxxxxno"],
  [
    "long",
    "CvcvnoCvcvCvcv CvcvCvcvnoCvcv CvcvCvcvCvcvno CvccnoCvcvCvcv CvccCvcvnoCvcv CvccCvcvCvcvno CvcvnoCvccCvcv " +
    "CvcvCvccnoCvcv CvcvCvccCvcvno CvcvnoCvcvCvcc CvcvCvcvnoCvcc CvcvCvcvCvccno CvccnoCvccCvcv CvccCvccnoCvcv " +
    "CvccCvccCvcvno CvcvnoCvccCvcc CvcvCvccnoCvcc CvcvCvccCvccno CvccnoCvcvCvcc CvccCvcvnoCvcc CvccCvcvCvccno",
  ],
  ["medium", "CvcnoCvc CvcCvcno"],
  ["short", "Cvcn"],
  ["basic", "aaanaaan aannaaan aaannaaa"],
  ["pin", "nnnn"],
]);

const CLASSES: Readonly<Record<string, string>> = {
  V: "AEIOU",
  C: "BCDFGHJKLMNPQRSTVWXYZ",
  v: "aeiou",
  c: "bcdfghjklmnpqrstvwxyz",
  a: "AEIOUaeiouBCDFGHJKLMNPQRSTVWXYZbcdfghjklmnpqrstvwxyz",
  n: "0123456789",
  o: "@&%?,=[]_:-+*$#!'^~;()/.",
  x: "AEIOUaeiouBCDFGHJKLMNPQRSTVWXYZbcdfghjklmnpqrstvwxyz0123456789!@#$%^&*()",
};

const COST = { N: 32768, r: 8, p: 2, maxmem: 128 * 1024 * 1024 };

/** Returns the password, or sprig's error text for an unknown kind. */
export function derivePassword({ counter, kind, password, user, site }: PasswordRequest): string {
  const templates = TEMPLATES.get(kind)?.split(" ");
  if (templates === undefined) return `cannot find password template ${kind}`;
  const { scryptSync, createHmac } = nodeCrypto();
  const key = scryptSync(bytesOf(password), joinBytes([bytesOf(SCOPE), counted(user)]), 64, COST);
  const seed = createHmac("sha256", key).update(joinBytes([bytesOf(SCOPE), counted(site), uint32(counter)])).digest();
  const template = templates[(seed[0] ?? 0) % templates.length] ?? "";
  return [...template].map((letter, i) => pick(CLASSES[letter] ?? "", seed[i + 1] ?? 0)).join("");
}

function pick(characters: string, byte: number): string {
  return characters.charAt(byte % characters.length);
}

/** The bytes of a text, preceded by their number. */
function counted(value: string): Uint8Array {
  const bytes = bytesOf(value);
  return joinBytes([uint32(bytes.length), bytes]);
}

function uint32(value: number): Uint8Array {
  return Uint8Array.of(value >>> 24, value >>> 16, value >>> 8, value);
}
