/** What stands in place of a secret: Envoy's own word. */
export const REDACTED = "[redacted]";
