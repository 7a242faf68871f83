/**
 * The error texts of the runtime that this program matches. Deno's errors have no codes, so the message is the only
 * source. Its wording comes from Rust (std, hyper, rustls, ring) and Node, and may change with any release.
 * `tls_errors.ts` has the errors of TLS.
 */
import { messageOf } from "../base/errors.ts";

/** A text of the runtime, and what it means. */
export interface RuntimeError {
  readonly pattern: RegExp;
  readonly meaning: string;
}

/** Errors of connections and requests. */
export const RUNTIME_ERRORS = {
  refused: { pattern: /connection refused|ECONNREFUSED/i, meaning: "connection refused" },
  unknownName: {
    pattern: /dns error|lookup address|name or service not known|no such host|ENOTFOUND/i,
    meaning: "the name of the host is not known",
  },
  /** `fetch` needs another connection; nothing of the request was sent. */
  unsent: { pattern: /client error \(Connect\)/, meaning: "there is no connection" },
  /** Deno 2.9: the reason is in the error's cause. */
  inCause: { pattern: /^fetch failed$/, meaning: "the request failed" },
  /** The kernel's answer to a system call, as Rust prints it. */
  ofKernel: { pattern: / \(os error \d+\)/, meaning: "the kernel refused it" },
  /** The peer of a TLS connection was killed. */
  cutOff: { pattern: /without sending TLS close_notify/, meaning: "the connection was cut off" },
  alert: { pattern: /received fatal alert/, meaning: "the other end refused the TLS handshake" },
  expired: { pattern: /expired/i, meaning: "a certificate has expired" },
  unknownIssuer: {
    pattern: /UnknownIssuer|unknown (issuer|ca)/i,
    meaning: "a certificate was signed by an authority that is not trusted",
  },
  otherName: { pattern: /NotValidForName|not valid for name/i, meaning: "the certificate is for another name" },
  clientRefused: {
    pattern: /CertificateRequired|HandshakeFailure|BadCertificate/i,
    meaning: "the server does not take the client's certificate",
  },
  /** The server closed the connection right after its close frame, so the answering close frame cannot be sent. */
  unansweredClose: { pattern: /Failed to send frame/, meaning: "the server closed the connection" },
  /** Deno has no names for real-time signals; the message ends with the number. */
  unknownSignal: { pattern: /\b(\d+)$/, meaning: "a real-time signal ended the process" },
} as const satisfies Readonly<Record<string, RuntimeError>>;

/** The names of {@link RUNTIME_ERRORS}. */
export type RuntimeErrorName = keyof typeof RUNTIME_ERRORS;

/** Whether an error of the runtime, or its text, means this. */
export function isRuntimeError(error: unknown, name: RuntimeErrorName): boolean {
  return RUNTIME_ERRORS[name].pattern.test(messageOf(error));
}

/** The text around the reason in an error of `fetch`: `error sending request for url (URL): client error (Connect): REASON`. */
const AROUND_REASON = [
  /^error sending request (?:from \S+ )?for (?:url )?\S+( \(\S+\))?: /,
  /^client error \(\w+\): /,
  RUNTIME_ERRORS.ofKernel.pattern,
];

/** The reason in an error of `fetch` or of the kernel, without the text around it. */
export function reasonOf(error: unknown): string {
  return AROUND_REASON.reduce((text, pattern) => text.replace(pattern, ""), messageOf(error));
}
