/** The curve P-521, which Deno's node:crypto lacks. Few keys use P-521, so its library is loaded on demand. */
import { LateLibrary } from "../../../base/late_library.ts";
import { hexOf, oid } from "../der/der.ts";
import { decodePems } from "../der/pem.ts";

/** The object identifier of the curve. */
export const P521_ID = "1.3.132.0.35";

/** The library for P-521. Await `loaded()` before reading keys on P-521. */
export const p521Library = new LateLibrary("@noble/curves", async () => (await import("@noble/curves/nist.js")).p521);

/** Loads the curve if a block of a PEM text names it. */
export async function loadP521For(pem: string): Promise<void> {
  const id = hexOf(oid(P521_ID));
  if (decodePems(pem).some(({ bytes }) => hexOf(bytes).includes(id))) await p521Library.loaded();
}
