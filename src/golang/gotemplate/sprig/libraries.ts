/**
 * Libraries that few templates need. The functions of a template are synchronous, so a library is loaded before the
 * template is rendered, if its text names one of the functions.
 */
import { loadP521 } from "../../x509/mod.ts";
import { loadBcrypt } from "./crypto/bcrypt.ts";
import { loadRegexp } from "./text/expression.ts";

const LIBRARIES: readonly { readonly functions: RegExp; readonly load: () => Promise<void> }[] = [
  { functions: /\b(?:bcrypt|htpasswd)\b/, load: loadBcrypt },
  { functions: /regex|semverCompare/i, load: loadRegexp },
  // Their keys may be on P-521.
  { functions: /\b(?:gen[A-Z]\w+WithKey|buildCustomCert)\b/, load: loadP521 },
];

/** Loads what the functions in these texts need: templates, and values that a template renders as templates. */
export async function loadLibraries(...texts: readonly string[]): Promise<void> {
  const needed = LIBRARIES.filter(({ functions }) => texts.some((text) => functions.test(text)));
  await Promise.all(needed.map(({ load }) => load()));
}
