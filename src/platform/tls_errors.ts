/** The error texts of the runtime about TLS. They have their own file because no start of a program needs them. */
import { messageOf } from "../base/errors.ts";
import type { RuntimeError } from "./runtime_errors.ts";

/** Why the TLS library refuses a certificate or its key (rustls, ring, webpki). */
export const KEY_PAIR_ERRORS: readonly RuntimeError[] = [
  { pattern: /KeyMismatch/, meaning: "the key does not belong to the certificate" },
  {
    pattern: /UnsupportedCertVersion/,
    meaning: "the certificate is of X.509 version 1, and has to be of version 3",
  },
  {
    pattern: /failed to parse private key/,
    meaning: "the key is of a kind that TLS does not use here: RSA from 2048 bits, P-256, P-384",
  },
  { pattern: /No certificates found|BadEncoding/, meaning: "the certificate cannot be read" },
  { pattern: /No (?:private )?keys found/, meaning: "the key cannot be read" },
];

/** The values that a text about TLS contains. */
export interface TlsContext {
  /** The name that the server's certificate must have. */
  readonly serverName: string;
  readonly protocols: readonly string[];
}

type TlsError = readonly [pattern: RegExp, meaning: (found: RegExpExecArray, tls: TlsContext) => string];

/** Why a TLS handshake failed (rustls). The first match counts. */
const TLS_ERRORS: readonly TlsError[] = [
  [
    /; certificate is only valid for ([^]*)$/,
    ([, names = ""], { serverName }) =>
      `the server's certificate is not for "${serverName}", but for ${namesOf(names)}`,
  ],
  [
    /certificate not valid for name|NotValidForName/,
    (_, { serverName }) => `the server's certificate is not for "${serverName}"`,
  ],
  [/UnknownIssuer/, () => "the server's certificate was not signed by an authority that is trusted here"],
  [/certificate expired/i, () => "the server's certificate has expired, or the clock of this machine is wrong"],
  [
    /certificate not valid yet|NotValidYet/i,
    () => "the server's certificate is not valid yet, or the clock of this machine is wrong",
  ],
  [/BadSignature/, () => "the server's certificate was not signed by the authority of that name that is trusted here"],
  [/CaUsedAsEndEntity/, () => "the server's certificate belongs to an authority, not to a server"],
  [
    /received fatal alert: NoApplicationProtocol/,
    (_, { protocols }) => `the server speaks no protocol that was offered (${protocols.join(", ")})`,
  ],
  [/received fatal alert: (CertificateRequired)/, () => "the server asks for a certificate of the client"],
  [
    /received fatal alert: (UnknownCA|\w*Certificate\w*|DecryptError|AccessDenied)/,
    ([, alert = ""]) => `the server refused the client's certificate (${alert})`,
  ],
  [/received fatal alert: (\w+)/, ([, alert = ""]) => `the server refused the handshake (${alert})`],
  [/received corrupt message|InvalidContentType/, () => "the server does not speak TLS on this port"],
  [
    /unexpected (?:eof|end of file)|connection reset|peer closed connection|tls handshake eof/i,
    () => "the server closed the connection during the handshake",
  ],
  [/Unable to add pem file/, () => "the authorities that are to be trusted cannot be read"],
  [/BadEncoding/, () => "a certificate, the server's or one that is to be trusted, cannot be read"],
];

/** The reason of an error of a TLS connection; an unknown error is its own text. */
export function tlsReason(error: unknown, tls: TlsContext): string {
  const message = messageOf(error);
  for (const [pattern, meaning] of TLS_ERRORS) {
    const found = pattern.exec(message);
    if (found !== null) return meaning(found, tls);
  }
  return message;
}

const MAX_NAMES = 8;

/** `DnsName("a.test") or IpAddress(1.2.3.4)` as `"a.test", "1.2.3.4"`; long lists are cut. */
function namesOf(text: string): string {
  const names = [...text.matchAll(/\("?([^"()]*)"?\)/g)].map(([, name = ""]) => `"${name}"`);
  if (names.length === 0) return text;
  return names.length > MAX_NAMES ? `${names.slice(0, MAX_NAMES).join(", ")} and others` : names.join(", ");
}
