import { messageOf } from "../../../errors.ts";

/**
 * Asks the library that speaks TLS whether it takes a certificate and its key. Out: why not, `undefined` if it does. A client
 * is not to be asked: Deno ends the whole process for a pair that is none, where a server gets an error (denoland/deno,
 * ext/tls). The server listens on loopback for the moment that it takes to make it, less than 1 ms.
 */
export function identityProblem({ certificate, key }: IdentityTexts): string | undefined {
  try {
    Deno.listenTls({ hostname: "127.0.0.1", port: 0, cert: certificate, key }).close();
    return undefined;
  } catch (error) {
    return reasonOf(messageOf(error));
  }
}

/** Both PEM. */
interface IdentityTexts {
  readonly certificate: string;
  readonly key: string;
}

const REASONS: readonly (readonly [pattern: RegExp, text: string])[] = [
  [/KeyMismatch/, "the key is not that of the certificate"],
  [/UnsupportedCertVersion/, "the certificate is of X.509 version 1, and has to be of version 3"],
  [/failed to parse private key/, "the key is of a kind that TLS does not use here: RSA from 2048 bits, P-256, P-384"],
  [/No certificates found|BadEncoding/, "the certificate cannot be read"],
  [/No (?:private )?keys found/, "the key cannot be read"],
];

function reasonOf(message: string): string {
  return REASONS.find(([pattern]) => pattern.test(message))?.[1] ?? message;
}
