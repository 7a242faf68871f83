/** What to use instead of a text that is not a DNS label. */
export const DNS_LABEL_HINT = "use up to 63 lower-case letters, digits and -";

/** Whether a text is a DNS label (RFC 1123), as the names of namespaces and revisions are. */
export function isDnsLabel(text: string): boolean {
  return /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(text);
}
