import { parseJson } from "./json.ts";
import { isMap, type ValueMap } from "./value.ts";

/** Returns the claims of a JSON Web Token (RFC 7519); `undefined` for another text. Does not verify the signature. */
export function claimsOf(token: string): ValueMap | undefined {
  const [, payload = "", ...rest] = token.split(".");
  if (rest.length !== 1) return undefined;
  try {
    const claims = parseJson(new TextDecoder().decode(Uint8Array.fromBase64(payload, { alphabet: "base64url" })));
    return isMap(claims) ? claims : undefined;
  } catch {
    // SyntaxError: the payload is not base64.
    return undefined;
  }
}
