/**
 * Finds credentials for a registry: from the plugin's pull secret, or else from Docker's or Podman's file. Source: the
 * keychains of pilot-agent and of go-containerregistry, Docker's file of credentials.
 */
import { MeshError } from "../../base/errors.ts";
import { parseJson } from "../../base/json.ts";
import { isMap, mapAt, textAt, type ValueMap } from "../../base/value.ts";
import type { World } from "../../platform/world.ts";

/** Secrets that a registry or its token server may receive. */
export interface Credential {
  /** Value of the header `authorization`. */
  readonly basic?: string;
  readonly bearer?: string;
  /** Identity token that is exchanged for a registry token. */
  readonly identityToken?: string;
}

/** The credential for a registry, or why it is missing. */
export type Found = { readonly credential: Credential } | { readonly missing: string };

export interface Keychain {
  readonly pullSecret: string | undefined;
  /** Files with credentials if the plugin has no pull secret. The first file that exists is used. */
  readonly files: readonly string[];
}

const NO_SECRET = "the WasmPlugin has no pull secret";
const MAX_FILE = 1024 * 1024;

/** Finds the credential for a registry. Rejects with a MeshError for a secret or a file that cannot be read. */
export async function credentialFor(
  { files }: World,
  { host, repository }: { readonly host: string; readonly repository: string },
  keychain: Keychain,
): Promise<Found> {
  if (keychain.pullSecret !== undefined) {
    const credential = credentialIn(jsonObject(keychain.pullSecret, "The pull secret"), [host]);
    return credential === undefined
      ? { missing: "the WasmPlugin's pull secret has no credential for this registry" }
      : { credential };
  }
  for (const file of keychain.files) {
    if ((await files.stat(file))?.kind !== "file") continue;
    const config = jsonObject(await files.readText(file, MAX_FILE), `"${file}"`);
    const credential = credentialIn(config, [`${host}/${repository}`, host]);
    return credential === undefined ? { missing: `${NO_SECRET}, and ${reasonIn(config, host, file)}` } : { credential };
  }
  return { missing: NO_SECRET };
}

/** Explains why a file gives no credential. The agent does not run Docker's credential helpers. */
function reasonIn(config: ValueMap, host: string, file: string): string {
  const helper = textAt(mapAt(config, "credHelpers"), host) || textAt(config, "credsStore");
  if (helper === "") return `"${file}" has no password for this registry`;
  return `the agent does not run "docker-credential-${helper}" of "${file}"`;
}

function credentialIn(config: ValueMap, keys: readonly string[]): Credential | undefined {
  const auths = mapAt(config, "auths");
  for (const key of keys) {
    const entry = auths[key] ?? Object.entries(auths).find(([name]) => hostOf(name) === key)?.[1];
    const credential = isMap(entry) ? credentialOf(entry) : undefined;
    if (credential !== undefined) return credential;
  }
  return undefined;
}

function credentialOf(entry: ValueMap): Credential | undefined {
  const [user, password] = [textAt(entry, "username"), textAt(entry, "password")];
  const pair = user === "" && password === "" ? "" : new TextEncoder().encode(`${user}:${password}`).toBase64();
  const [basic, bearer] = [textAt(entry, "auth") || pair, textAt(entry, "registrytoken")];
  const identityToken = textAt(entry, "identitytoken");
  if (basic === "" && bearer === "" && identityToken === "") return undefined;
  return {
    ...basic === "" ? {} : { basic: authorization("Basic", basic) },
    ...bearer === "" ? {} : { bearer: authorization("Bearer", bearer) },
    ...identityToken === "" ? {} : { identityToken },
  };
}

/**
 * Returns the value of a header `authorization`. Removes invalid characters, because the runtime's error for an invalid
 * header would contain the secret.
 */
export function authorization(scheme: "Basic" | "Bearer", secret: string): string {
  return `${scheme} ${secret.replaceAll(/[^\x21-\x7e]/g, "")}`;
}

/** Returns the host of a registry. Docker writes `https://index.docker.io/v1/` for its own registry. */
function hostOf(name: string): string {
  return name.replace(/^https?:\/\//, "").split("/")[0] ?? "";
}

/** Parses a JSON object. Throws a MeshError without any part of the text, which may be a secret. */
export function jsonObject(text: string, what: string): ValueMap {
  const value = parseJson(text);
  if (!isMap(value)) throw new MeshError(`${what} is not a JSON object`);
  return value;
}
