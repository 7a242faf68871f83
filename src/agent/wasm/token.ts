/**
 * Gets tokens of registries. Source: go-containerregistry's transport, the token and OAuth flows of Docker's registry.
 */
import { MeshError } from "../../base/errors.ts";
import { textAt, type ValueMap } from "../../base/value.ts";
import { blockHolds, type Cidr, parseAddress, parseCidrList, unmapped } from "../../golang/net/mod.ts";
import { AnswerError } from "../../platform/http.ts";
import type { World } from "../../platform/world.ts";
import { authorization, type Credential, type Found, jsonObject } from "./keychain.ts";
import { readAll } from "./unpack.ts";

const MAX_ANSWER = 64 * 1024;
/** Client name, which registries require when an identity token is exchanged. */
const CLIENT = "kubectl-mesh";

interface Registry {
  readonly host: string;
  readonly isInsecure: boolean;
  readonly signal: AbortSignal;
  readonly found: Found;
}

/** Returns the header that answers a challenge. Uses the registry's credential; without one, asks anonymously. */
export async function authorized(world: World, challenge: string, registry: Registry): Promise<string> {
  const { host, found } = registry;
  const credential: Credential = "credential" in found ? found.credential : {};
  const header = credential.bearer ?? credential.basic;
  if (/^basic\b/i.test(challenge)) {
    if (header !== undefined) return header;
    const why = "missing" in found ? found.missing : "only an identity token exists for this registry";
    throw new MeshError(`"${host}" wants a password: ${why}`);
  }
  if (credential.bearer !== undefined) return credential.bearer;
  const parts = new Map(
    [...challenge.matchAll(/\b(realm|service|scope)="([^"]*)"/g)].map(([, key = "", value = ""]) => [key, value]),
  );
  const realm = realmOf(parts.get("realm") ?? "", host, registry.isInsecure);
  parts.delete("realm");
  const answer = jsonOf(await tokenFrom(world, realm, { ...registry, credential, parts }));
  return authorization("Bearer", textAt(answer, "token") || textAt(answer, "access_token"));
}

interface Request extends Registry {
  readonly credential: Credential;
  /** The service and the scope of the challenge. */
  readonly parts: ReadonlyMap<string, string>;
}

async function tokenFrom(world: World, realm: URL, request: Request): Promise<Uint8Array<ArrayBuffer>> {
  const { host, isInsecure, signal, credential: { identityToken, basic }, parts } = request;
  const options = {
    insecure: isInsecure,
    signal,
    limits: { bytes: MAX_ANSWER },
    follows: (to: URL) => isRealm(to, host, isInsecure),
  };
  if (identityToken !== undefined) {
    const form = {
      ...Object.fromEntries(parts),
      client_id: CLIENT,
      grant_type: "refresh_token",
      refresh_token: identityToken,
    };
    try {
      return await readAll(await world.network.fetch(realm.href, { ...options, form }), MAX_ANSWER);
    } catch (error) {
      // Not every server supports this flow.
      if (!(error instanceof AnswerError) || error.status !== 404) throw error;
    }
  }
  const url = new URL(realm);
  for (const [key, value] of parts) url.searchParams.set(key, value);
  const headers = basic === undefined ? {} : { authorization: basic };
  return await readAll(await world.network.fetch(url.href, { ...options, headers }), MAX_ANSWER);
}

/** Parses a registry's response. */
export function jsonOf(bytes: Uint8Array): ValueMap {
  return jsonObject(new TextDecoder().decode(bytes), "The registry's response");
}

const PRIVATE = blocks(
  "0.0.0.0/8,10.0.0.0/8,100.64.0.0/10,172.16.0.0/12,192.168.0.0/16,127.0.0.0/8,169.254.0.0/16,::/127,fc00::/7,fe80::/10",
);

function blocks(text: string): readonly Cidr[] {
  const list = parseCidrList(text);
  return typeof list === "string" ? [] : list;
}

function isLocal({ hostname }: URL): boolean {
  const host = hostname.replace(/^\[|\]$|\.$/g, "");
  const address = parseAddress(host);
  return host === "localhost" || host.endsWith(".localhost") || host === "metadata.google.internal" ||
    (typeof address === "object" && PRIVATE.some((block) => blockHolds(block, unmapped(address))));
}

/** Whether a URL may be a registry's token server. Other servers of the cluster or the node are not allowed. */
function isRealm(url: URL, registry: string, isInsecure: boolean): boolean {
  const isAllowed = url.protocol === "https:" || (isInsecure && url.protocol === "http:");
  return isAllowed && (url.host === registry || !isLocal(url));
}

/**
 * Returns the token server. A registry must not direct the agent, with its pull secret, to another server of the
 * cluster or the node.
 */
export function realmOf(text: string, registry: string, isInsecure: boolean): URL {
  if (!URL.canParse(text)) throw new MeshError(`The registry names an invalid token server "${text}"`);
  const realm = new URL(text);
  if (!isRealm(realm, registry, isInsecure)) {
    throw new MeshError(`The registry's token server "${text}" is not allowed`);
  }
  return realm;
}
