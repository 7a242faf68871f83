import { messageOf } from "../../../base/errors.ts";
import type { KeyPair } from "../../http.ts";
import { KEY_PAIR_ERRORS } from "../../tls_errors.ts";

/**
 * Returns why TLS cannot use a certificate and its key, or `undefined` if both are usable. Tests the pair with a TLS
 * listener, because a client with a bad pair crashes the whole process (denoland/deno, ext/tls). The listener is open
 * on loopback for less than 1 ms.
 */
export function keyPairProblem({ certificate, key }: KeyPair): string | undefined {
  try {
    Deno.listenTls({ hostname: "127.0.0.1", port: 0, cert: certificate, key }).close();
    return undefined;
  } catch (error) {
    const message = messageOf(error);
    return KEY_PAIR_ERRORS.find(({ pattern }) => pattern.test(message))?.meaning ?? message;
  }
}
