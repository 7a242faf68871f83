/**
 * Libraries that few templates need. The functions of a template are synchronous, so a library is loaded before the
 * template is rendered if the template's text names one of the library's functions.
 */
import { re2Library } from "../../re2.ts";
import { p521Library } from "../../x509/mod.ts";
import { bcryptLibrary } from "./crypto/bcrypt.ts";

const LIBRARIES: readonly { readonly functions: RegExp; readonly library: { loaded(): Promise<unknown> } }[] = [
  { functions: /\b(?:bcrypt|htpasswd)\b/, library: bcryptLibrary },
  { functions: /regex|semverCompare/i, library: re2Library },
  // The keys that these functions read may use P-521.
  { functions: /\b(?:gen[A-Z]\w+WithKey|buildCustomCert)\b/, library: p521Library },
];

/**
 * Loads the libraries that functions in these texts need. Pass templates, and values that a template renders as
 * templates.
 */
export async function loadLibraries(...texts: readonly string[]): Promise<void> {
  const needed = LIBRARIES.filter(({ functions }) => texts.some((text) => functions.test(text)));
  await Promise.all(needed.map(({ library }) => library.loaded()));
}
