import { isDnsLabel } from "../../golang/net/mod.ts";

/** What to use instead of a text that cannot be the name of a namespace. */
export const NAMESPACE_NAME_HINT = "use up to 63 lower-case letters, digits and -";

/** Whether a text can be the name of a namespace or of a revision: a DNS label in lower case (RFC 1123). */
export function isNamespaceName(text: string): boolean {
  return isDnsLabel(text) && text === text.toLowerCase();
}
