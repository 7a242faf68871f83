import { isDnsLabel } from "../../golang/net/mod.ts";

/**
 * Formats the name of an object as kubectl does: `deployment.apps/web`, or `pod/web` for the core group (`v1`). A
 * missing kind gives the name alone.
 */
export function resourceName(apiVersion: string, kind: string, name: string): string {
  if (kind === "") return name;
  const slash = apiVersion.indexOf("/");
  const group = slash < 0 ? "" : `.${apiVersion.slice(0, slash)}`;
  return `${kind.toLowerCase()}${group}/${name}`;
}

/** What to use instead of a text that cannot be the name of a namespace. */
export const NAMESPACE_NAME_HINT = "use up to 63 lower-case letters, digits and -";

/** Whether a text can be the name of a namespace or of a revision: a DNS label in lower case (RFC 1123). */
export function isNamespaceName(text: string): boolean {
  return isDnsLabel(text) && text === text.toLowerCase();
}
