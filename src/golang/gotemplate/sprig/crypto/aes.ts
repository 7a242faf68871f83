/** sprig's `encryptAES` and `decryptAES`: AES-256-CBC. The key is the password, cut or zero-filled to 32 bytes. */
import { joinBytes } from "../../../../base/bytes.ts";
import { bytesOf, stringOf } from "../../../go_bytes.ts";
import { nodeCrypto } from "../../../../base/node_crypto.ts";

const BLOCK = 16;

/** Returns base64 of a random initialization vector and the encrypted, padded text; empty for an empty text. */
export function encryptAes(password: string, plain: string): string {
  if (plain === "") return "";
  const vector = crypto.getRandomValues(new Uint8Array(BLOCK));
  const cipher = nodeCrypto().createCipheriv("aes-256-cbc", keyOf(password), vector);
  return joinBytes([vector, cipher.update(bytesOf(plain)), cipher.final()]).toBase64();
}

/** Decrypts the output of `encryptAes`. Throws if the text is not base64 or does not contain whole blocks. */
export function decryptAes(password: string, sealed: string): string {
  if (sealed === "") return "";
  const bytes = fromBase64(sealed);
  if (bytes.length < 2 * BLOCK || bytes.length % BLOCK !== 0) throw new Error("crypto/cipher: input not full blocks");
  const decipher = nodeCrypto().createDecipheriv("aes-256-cbc", keyOf(password), bytes.subarray(0, BLOCK));
  // A wrong password gives padding of any size; Go removes as many bytes as the last byte says.
  decipher.setAutoPadding(false);
  const plain = decipher.update(bytes.subarray(BLOCK));
  decipher.final();
  const padding = plain.at(-1) ?? 0;
  if (padding > plain.length) throw new Error(`runtime error: slice bounds out of range [:${plain.length - padding}]`);
  return stringOf(plain.subarray(0, plain.length - padding));
}

function keyOf(password: string): Uint8Array {
  const key = new Uint8Array(32);
  key.set(bytesOf(password).subarray(0, 32));
  return key;
}

function fromBase64(text: string): Uint8Array {
  try {
    return Uint8Array.fromBase64(text);
  } catch {
    // SyntaxError: the text is not base64.
    throw new Error("illegal base64 data");
  }
}
