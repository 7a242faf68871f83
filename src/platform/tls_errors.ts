/** Patterns for the runtime's TLS error texts. They are in a separate file, which is loaded only after an error. */
import { messageOf } from "../base/errors.ts";
import type { RuntimeError } from "./runtime_errors.ts";

/** Errors of the TLS library (rustls, ring, webpki) for a certificate or its key. */
export const KEY_PAIR_ERRORS: readonly RuntimeError[] = [
  { pattern: /KeyMismatch/, meaning: "the key does not belong to the certificate" },
  {
    pattern: /UnsupportedCertVersion/,
    meaning: "the certificate is X.509 version 1, but must be version 3",
  },
  {
    pattern: /failed to parse private key/,
    meaning: "the key type is not supported; use RSA with at least 2048 bits, P-256 or P-384",
  },
  { pattern: /No certificates found|BadEncoding/, meaning: "the certificate cannot be read" },
  { pattern: /No (?:private )?keys found/, meaning: "the key cannot be read" },
];

export interface TlsContext {
  /** The name that the server's certificate must have. */
  readonly serverName: string;
  readonly protocols: readonly string[];
}

type TlsError = readonly [pattern: RegExp, meaning: (found: RegExpExecArray, tls: TlsContext) => string];

/** Causes of failed TLS handshakes (rustls). The first match wins. */
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
  [/UnknownIssuer/, () => "the server's certificate is not signed by a trusted authority"],
  [/certificate expired/i, () => "the server's certificate has expired, or the clock of this machine is wrong"],
  [
    /certificate not valid yet|NotValidYet/i,
    () => "the server's certificate is not valid yet, or the clock of this machine is wrong",
  ],
  [
    /BadSignature/,
    () => "the server's certificate has an invalid signature: its authority has a trusted name, but a different key",
  ],
  [/CaUsedAsEndEntity/, () => "the server's certificate belongs to an authority, not to a server"],
  [
    /received fatal alert: NoApplicationProtocol/,
    (_, { protocols }) => `the server supports none of the offered protocols (${protocols.join(", ")})`,
  ],
  [/received fatal alert: (CertificateRequired)/, () => "the server requires a client certificate"],
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
  [/Unable to add pem file/, () => "the trusted authorities cannot be read"],
  [/BadEncoding/, () => "the server's certificate or a trusted certificate cannot be read"],
];

/** Returns the cause of a TLS error for users, or the text of an unknown error. */
export function tlsReason(error: unknown, tls: TlsContext): string {
  const message = messageOf(error);
  for (const [pattern, meaning] of TLS_ERRORS) {
    const found = pattern.exec(message);
    if (found !== null) return meaning(found, tls);
  }
  return message;
}

const MAX_NAMES = 8;

/** Formats `DnsName("a.test") or IpAddress(1.2.3.4)` as `"a.test", "1.2.3.4"`. Shortens long lists. */
function namesOf(text: string): string {
  const names = [...text.matchAll(/\("?([^"()]*)"?\)/g)].map(([, name = ""]) => `"${name}"`);
  if (names.length === 0) return text;
  return names.length > MAX_NAMES ? `${names.slice(0, MAX_NAMES).join(", ")} and others` : names.join(", ");
}
