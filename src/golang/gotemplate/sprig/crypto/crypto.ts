/** sprig's hashes, passwords, keys and encryption. */
import { nodeCrypto } from "../../../../base/node_crypto.ts";
import { genPrivateKey } from "../../../x509/mod.ts";
import type { FuncMap } from "../../../go_value.ts";
import { pure, varying } from "../../../go_value.ts";
import { bytesOf } from "../../../go_bytes.ts";
import { STRING, text } from "../args.ts";
import { decryptAes, encryptAes } from "./aes.ts";
import { bcrypt, htpasswd } from "./bcrypt.ts";
import { certificateFunctions } from "./certificates.ts";
import { derivePassword } from "./derive_password.ts";
import { toInt64 } from "../values/cast.ts";

/** Returns the functions of this file by name. Certificates are valid from `now`. */
export function cryptoFunctions(now: () => Date): FuncMap {
  return {
    ...certificateFunctions(now),
    genPrivateKey: varying([STRING], (kind) => genPrivateKey(text(kind))),
    sha1sum: hash("sha1"),
    sha256sum: hash("sha256"),
    sha512sum: hash("sha512"),
    adler32sum: pure([STRING], (s) => String(adler32(bytesOf(text(s))))),
    bcrypt: varying([STRING], (password) => bcrypt(text(password))),
    htpasswd: varying([STRING, STRING], (user, password) => htpasswd(text(user), text(password))),
    derivePassword: pure(["uint32", STRING, STRING, STRING, STRING], (counter = null, ...texts) => {
      const [kind = "", password = "", user = "", site = ""] = texts.map(text);
      return derivePassword({ counter: Number(toInt64(counter)), kind, password, user, site });
    }),
    encryptAES: varying([STRING, STRING], (password, plain) => encryptAes(text(password), text(plain))),
    decryptAES: pure([STRING, STRING], (password, sealed) => decryptAes(text(password), text(sealed))),
  };
}

function hash(name: string) {
  return pure([STRING], (s) => nodeCrypto().createHash(name).update(bytesOf(text(s))).digest("hex"));
}

function adler32(bytes: Uint8Array): number {
  let a = 1;
  let b = 0;
  for (const byte of bytes) {
    a = (a + byte) % 65521;
    b = (b + a) % 65521;
  }
  return b * 65536 + a;
}
