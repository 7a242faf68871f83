/** Replaces a secret in output. Envoy uses the same word. */
export const REDACTED = "[redacted]";
