/** The token that proves to the authority who this workload is. Its text is never told: only what it says of itself. */
import { bytesOfBinary } from "../../core/bytes.ts";
import { isMap, type Value } from "../../core/value.ts";
import type { Files } from "../../core/world/world.ts";

/** A token, and what it says; times in milliseconds since 1970. */
export interface Token {
  readonly text: string;
  readonly audiences: readonly string[];
  readonly notBefore: number | undefined;
  readonly expires: number | undefined;
}

const MAX_BYTES = 1024 * 1024;

/** The token in a file; `undefined` if there is none. Errors: the file cannot be read. */
export async function readToken(files: Files, path: string): Promise<Token | undefined> {
  if (path === "" || await files.facts(path) === undefined) return undefined;
  const text = (await files.readText(path, MAX_BYTES)).trim();
  // What is no header would be an error that has it in its text.
  return text === "" ? undefined : { text: text.replaceAll(/[^\x21-\x7e]/g, ""), ...claimsOf(text) };
}

/** What a JWT says of itself (RFC 7519, 4.1); nothing of what is none. */
export function claimsOf(text: string): Omit<Token, "text"> {
  const claims = payloadOf(text);
  const { aud, nbf, iat, exp } = isMap(claims) ? claims : {};
  const audiences = (Array.isArray(aud) ? aud : [aud]).filter((each) => typeof each === "string");
  return { audiences, notBefore: timeOf(nbf) ?? timeOf(iat), expires: timeOf(exp) };
}

function payloadOf(text: string): Value | undefined {
  const [, payload = ""] = text.split(".");
  try {
    const json: Value = JSON.parse(
      new TextDecoder().decode(bytesOfBinary(atob(payload.replaceAll("-", "+").replaceAll("_", "/")))),
    );
    return json;
  } catch {
    return undefined;
  }
}

function timeOf(seconds: Value | undefined): number | undefined {
  return typeof seconds === "number" ? seconds * 1000 : undefined;
}
