/** Why TLS failed, in words: the runtime's are those of its library (rustls), made for programmers. */
import { messageOf } from "../../../errors.ts";
import type { DialTls } from "../../byte_connection.ts";

type Failure = readonly [pattern: RegExp, text: (found: RegExpExecArray, tls: DialTls) => string];

const FAILURES: readonly Failure[] = [
  [
    /certificate not valid for name .*?; certificate is only valid for (.*)$/,
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
  [/CaUsedAsEndEntity/, () => "the server's certificate is that of an authority, which is no server's"],
  [/received fatal alert: NoApplicationProtocol/, () => "the server does not speak HTTP/2"],
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

/** Words for an error of a TLS connection; what is not known is told as it is. */
export function tlsFailure(error: unknown, tls: DialTls): string {
  const message = messageOf(error);
  for (const [pattern, text] of FAILURES) {
    const found = pattern.exec(message);
    if (found !== null) return text(found, tls);
  }
  return message;
}

/** `DnsName("a.test") or IpAddress(1.2.3.4)` as `"a.test", "1.2.3.4"`; long lists are cut. */
function namesOf(text: string): string {
  const names = [...text.matchAll(/\w+\("?([^")]*)"?\)/g)].map(([, name = ""]) => `"${name}"`);
  if (names.length === 0) return text;
  return names.length > MOST_NAMES ? `${names.slice(0, MOST_NAMES).join(", ")} and others` : names.join(", ");
}

const MOST_NAMES = 8;
