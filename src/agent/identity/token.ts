/** Reads the service account token. Only claims of the token are logged, never its text. */
import { claimsOf } from "../../base/json_web_token.ts";
import type { Value } from "../../base/value.ts";
import type { Files } from "../../platform/world.ts";

/** Times in milliseconds since 1970. */
export interface Token {
  readonly text: string;
  readonly audiences: readonly string[];
  readonly notBefore: number | undefined;
  readonly expires: number | undefined;
}

const MAX_BYTES = 1024 * 1024;

/** Reads the token; `undefined` if the file is absent or empty. Rejects if the file cannot be read. */
export async function readToken(files: Files, path: string): Promise<Token | undefined> {
  if (path === "" || await files.stat(path) === undefined) return undefined;
  const text = (await files.readText(path, MAX_BYTES)).trim();
  // Removes characters that are invalid in a header, because the error message for the header would quote the token.
  return text === "" ? undefined : { text: text.replaceAll(/[^\x21-\x7e]/g, ""), ...lifetimeOf(text) };
}

/** Returns audiences and times of a token (RFC 7519, 4.1); empty if the text is not a JWT. */
export function lifetimeOf(text: string): Omit<Token, "text"> {
  const { aud, nbf, iat, exp } = claimsOf(text) ?? {};
  const audiences = (Array.isArray(aud) ? aud : [aud]).filter((each) => typeof each === "string");
  return { audiences, notBefore: timeOf(nbf) ?? timeOf(iat), expires: timeOf(exp) };
}

function timeOf(seconds: Value | undefined): number | undefined {
  return typeof seconds === "number" ? seconds * 1000 : undefined;
}
