/** Text that replaces a secret in output. Envoy uses the same text. */
export const REDACTED = "[redacted]";
