/**
 * Patterns for the runtime's error texts. Deno's errors have no codes, so the message is the only
 * source. The wording comes from Rust (std, hyper, rustls, ring) and Node, and may change with any release.
 * `tls_errors.ts` contains the patterns for TLS errors.
 */
import { messageOf } from "../base/errors.ts";

/** A pattern for an error text of the runtime, and its meaning for users. */
export interface RuntimeError {
  readonly pattern: RegExp;
  readonly meaning: string;
}

/** Errors of connections and requests. */
export const RUNTIME_ERRORS = {
  refused: { pattern: /connection refused|ECONNREFUSED/i, meaning: "connection refused" },
  unknownName: {
    pattern: /dns error|lookup address|name or service not known|no such host|ENOTFOUND/i,
    meaning: "the host name is unknown",
  },
  /** `fetch` could not open a connection, so the request was not sent. */
  unsent: { pattern: /client error \(Connect\)/, meaning: "no connection could be opened" },
  /** Deno 2.9 puts the reason into the error's cause. */
  inCause: { pattern: /^fetch failed$/, meaning: "the request failed" },
  /** The kernel's error for a system call, as Rust prints it. */
  ofKernel: { pattern: / \(os error \d+\)/, meaning: "the kernel refused the system call" },
  /** The TLS peer closed the connection without close_notify, for example because it was killed. */
  cutOff: { pattern: /without sending TLS close_notify/, meaning: "the connection was cut off" },
  alert: { pattern: /received fatal alert/, meaning: "the peer refused the TLS handshake" },
  expired: { pattern: /expired/i, meaning: "a certificate has expired" },
  unknownIssuer: {
    pattern: /UnknownIssuer|unknown (issuer|ca)/i,
    meaning: "a certificate was signed by an authority that is not trusted",
  },
  otherName: { pattern: /NotValidForName|not valid for name/i, meaning: "the certificate is for another name" },
  clientRefused: {
    pattern: /CertificateRequired|HandshakeFailure|BadCertificate/i,
    meaning: "the server does not accept the client's certificate",
  },
  /** The server closed the connection right after its close frame, so Deno cannot send the close frame in reply. */
  unansweredClose: { pattern: /Failed to send frame/, meaning: "the server closed the connection" },
  /** Deno has no names for real-time signals. The message ends with the signal number. */
  unknownSignal: { pattern: /\b(\d+)$/, meaning: "a real-time signal ended the process" },
} as const satisfies Readonly<Record<string, RuntimeError>>;

export type RuntimeErrorName = keyof typeof RUNTIME_ERRORS;

/** Whether an error or error text of the runtime matches the named pattern. */
export function isRuntimeError(error: unknown, name: RuntimeErrorName): boolean {
  return RUNTIME_ERRORS[name].pattern.test(messageOf(error));
}

/** Matches the text around the reason in an error such as `error sending request for url (URL): client error (Connect): REASON`. */
const AROUND_REASON = [
  /^error sending request (?:from \S+ )?for (?:url )?\S+( \(\S+\))?: /,
  /^client error \(\w+\): /,
  RUNTIME_ERRORS.ofKernel.pattern,
];

/** Returns only the reason from an error of `fetch` or of the kernel. */
export function reasonOf(error: unknown): string {
  return AROUND_REASON.reduce((text, pattern) => text.replace(pattern, ""), messageOf(error));
}
