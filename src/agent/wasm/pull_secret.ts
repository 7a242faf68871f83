/** Credentials of a registry in a `.dockerconfigjson`. */
import { MeshError } from "../../base/errors.ts";
import { isMap, mapAt, textAt, type Value, type ValueMap } from "../../base/value.ts";

/** The header `authorization`; `undefined` if the secret has none for this host. */
export function credentialOf(secret: string | undefined, host: string): string | undefined {
  if (secret === undefined) return undefined;
  const found = Object.entries(mapAt(parsed(secret), "auths")).find(([name]) => hostOf(name) === host)?.[1];
  if (!isMap(found)) return undefined;
  const pair = new TextEncoder().encode(`${textAt(found, "username")}:${textAt(found, "password")}`);
  const auth = textAt(found, "auth") || pair.toBase64();
  const token = textAt(found, "registrytoken");
  return token === "" ? authorization("Basic", auth) : authorization("Bearer", token);
}

/** The header `authorization`. The runtime's error for an invalid header would have the secret. */
export function authorization(scheme: "Basic" | "Bearer", secret: string): string {
  return `${scheme} ${secret.replaceAll(/[^\x21-\x7e]/g, "")}`;
}

/** Docker writes `https://index.docker.io/v1/` for its own. */
function hostOf(name: string): string {
  return name.replace(/^https?:\/\//, "").split("/")[0] ?? "";
}

function parsed(secret: string): ValueMap {
  try {
    const value: Value = JSON.parse(secret);
    return isMap(value) ? value : {};
  } catch {
    // The parser's message would have a part of the secret.
    throw new MeshError("The pull secret is no JSON");
  }
}
