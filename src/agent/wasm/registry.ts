/** Modules in images of OCI registries. Source: pilot-agent's `imagefetcher`, the OCI distribution specification. */
import { MeshError } from "../../base/errors.ts";
import { blockHolds, type Cidr, parseAddress, parseCidrList, unmapped } from "../../golang/net/mod.ts";
import { isList, isMap, mapAt, mapsAt, textAt, type Value, type ValueMap } from "../../base/value.ts";
import type { World } from "../../platform/world.ts";
import { authorization as headerOf, credentialOf } from "./pull_secret.ts";
import { download, type Downloaded } from "./download.ts";
import { filesOfTar, gunzip } from "./unpack.ts";
import { sha256Of } from "./digest.ts";

const MAX_MANIFEST = 4 * 1024 * 1024;
const MANIFESTS = [
  "application/vnd.oci.image.manifest.v1+json",
  "application/vnd.docker.distribution.manifest.v2+json",
  "application/vnd.oci.image.index.v1+json",
  "application/vnd.docker.distribution.manifest.list.v2+json",
];

export interface ImageName {
  readonly host: string;
  readonly repository: string;
  /** A tag or a digest. */
  readonly reference: string;
}

const IMAGE = /^([a-z0-9][a-z0-9._/-]*)(?::(\w[\w.-]*))?(?:@(sha256:[0-9a-f]{64}))?$/;

/** `HOST/REPOSITORY`, with `:TAG` or `@sha256:...`; the tag is `latest` by default. Errors: it names no image. */
export function imageName(url: string): ImageName {
  const { host, path } = hostAndPath(url.startsWith("oci://") ? url.slice("oci://".length) : "");
  const [, name = "", tag = "latest", digest] = IMAGE.exec(path) ?? [];
  if (name === "") throw new MeshError(`"${url}" names no image`);
  const isDocker = host === "docker.io";
  return {
    host: isDocker ? "index.docker.io" : host,
    repository: isDocker && !name.includes("/") ? `library/${name}` : name,
    reference: digest ?? tag,
  };
}

/** The first part is a host if it has a dot or a port, or is `localhost`. */
function hostAndPath(image: string): { readonly host: string; readonly path: string } {
  const slash = image.indexOf("/");
  const first = image.slice(0, Math.max(slash, 0));
  if (first !== "localhost" && !/[.:]/.test(first)) return { host: "docker.io", path: image };
  return { host: first, path: image.slice(slash + 1) };
}

interface Access {
  readonly isInsecure: boolean;
  readonly pullSecret: string | undefined;
  readonly signal: AbortSignal;
}

/** An image whose manifest is known, and its module, which is not fetched yet. */
export interface Image {
  /** SHA-256 of the manifest, in hex. */
  readonly digest: string;
  load(): Promise<Uint8Array<ArrayBuffer>>;
}

/** Rejects with a MeshError that has the registry's answer. */
export async function openImage(world: World, url: string, access: Access): Promise<Image> {
  const image = imageName(url);
  const registry = registryAt(world, image, access);
  let [bytes, expected] = [await registry.manifest(image.reference), digestOf(image.reference)];
  const index = parse(bytes);
  const choice = isList(index["manifests"]) ? chosen(mapsAt(index, "manifests")) : undefined;
  if (choice !== undefined) [bytes, expected] = [await registry.manifest(choice), digestOf(choice)];
  const digest = await sha256Of(bytes);
  if (expected !== undefined && expected !== digest) throw new MeshError(`The manifest has the SHA-256 ${digest}`);
  return { digest, load: () => moduleOf(parse(bytes), registry.blob) };
}

function digestOf(reference: string): string | undefined {
  return /^sha256:([0-9a-f]{64})$/.exec(reference)?.[1];
}

function parse(bytes: Uint8Array): ValueMap {
  let value: Value;
  try {
    value = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    // The parser's message would have a part of the text, which may be a token.
    throw new MeshError("The registry's answer is no JSON");
  }
  if (!isMap(value)) throw new MeshError("The registry's answer is no JSON object");
  return value;
}

/** The image for linux/amd64, as Istio; modules are the same for all platforms. */
function chosen(manifests: readonly ValueMap[]): string {
  const isAmd64 = (each: ValueMap) => textAt(mapAt(each, "platform"), "architecture") === "amd64";
  return textAt(manifests.find(isAmd64) ?? manifests[0] ?? {}, "digest");
}

/** By the media type of the layer: a file `plugin.wasm` in a packed layer, or the module itself. */
async function moduleOf(
  manifest: ValueMap,
  blob: (digest: string) => Promise<Uint8Array<ArrayBuffer>>,
): Promise<Uint8Array<ArrayBuffer>> {
  const layers = mapsAt(manifest, "layers");
  const bare = layers.find((layer) =>
    textAt(layer, "mediaType") === "application/vnd.module.wasm.content.layer.v1+wasm"
  );
  if (bare !== undefined) return await blob(textAt(bare, "digest"));
  const last = layers.at(-1) ?? {};
  const type = textAt(last, "mediaType");
  if (!/^application\/vnd\.(?:oci\.image\.layer\.v1\.tar\+gzip|docker\.image\.rootfs\.diff\.tar\.gzip)$/.test(type)) {
    throw new MeshError(`The image has no layer with a module, but "${type}"`);
  }
  const layer = await gunzip(await blob(textAt(last, "digest")));
  for (const [name, file] of filesOfTar(layer)) if (name.split("/").at(-1) === "plugin.wasm") return file;
  throw new MeshError('The image has no file "plugin.wasm"');
}

function registryAt(world: World, { host, repository }: ImageName, access: Access) {
  let authorization: string | undefined;
  let scheme = "https";
  async function get(path: string, accept: string, maxBytes?: number): Promise<Downloaded> {
    const ask = () =>
      download(world, `${scheme}://${host}/v2/${repository}/${path}`, {
        ...access,
        headers: { accept, ...authorization === undefined ? {} : { authorization } },
        ...maxBytes === undefined ? {} : { maxBytes },
      });
    let answer = await ask().catch((error) => {
      // A registry in the cluster may speak plain text.
      if (!access.isInsecure || scheme === "http") throw error;
      scheme = "http";
      return ask();
    });
    if (answer.status === 401 && authorization === undefined) {
      authorization = await authorized(world, answer.headers.get("www-authenticate") ?? "", host, access);
      answer = await ask();
    }
    if (answer.status !== 200) throw new MeshError(`"${host}" answers ${answer.status} for ${repository}/${path}`);
    return answer;
  }
  return {
    manifest: async (reference: string) =>
      (await get(`manifests/${reference}`, MANIFESTS.join(", "), MAX_MANIFEST)).body,
    async blob(digest: string) {
      const { body } = await get(`blobs/${digest}`, "*/*");
      if (await sha256Of(body) !== digestOf(digest)) throw new MeshError(`The layer is not "${digest}"`);
      return body;
    },
  };
}

/** The header for a challenge, with the credentials of the pull secret, else anonymous. */
async function authorized(world: World, challenge: string, host: string, access: Access): Promise<string> {
  const credential = credentialOf(access.pullSecret, host);
  if (/^basic\b/i.test(challenge)) {
    if (credential !== undefined) return credential;
    throw new MeshError(`"${host}" wants a password: the WasmPlugin has no pull secret for it`);
  }
  const parts = new Map(
    [...challenge.matchAll(/\b(realm|service|scope)="([^"]*)"/g)].map(([, key = "", value = ""]) => [key, value]),
  );
  const realm = realmOf(parts.get("realm") ?? "", host, access.isInsecure);
  for (const key of ["service", "scope"]) if (parts.has(key)) realm.searchParams.set(key, parts.get(key) ?? "");
  const headers = credential === undefined ? {} : { authorization: credential };
  const { status, body } = await download(world, realm.href, { ...access, headers, maxBytes: MAX_MANIFEST });
  if (status !== 200) throw new MeshError(`"${realm.host}" answers ${status} to the request for a token`);
  const answer = parse(body);
  return headerOf("Bearer", textAt(answer, "token") || textAt(answer, "access_token"));
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

/**
 * The server for tokens. A registry must not send the agent, and the pull secret, to another server of the cluster or the
 * node.
 */
export function realmOf(text: string, registry: string, isInsecure: boolean): URL {
  if (!URL.canParse(text)) throw new MeshError(`The registry names no server for tokens, but "${text}"`);
  const realm = new URL(text);
  const isAllowed = realm.protocol === "https:" || (isInsecure && realm.protocol === "http:");
  if (!isAllowed || (isLocal(realm) && realm.host !== registry)) {
    throw new MeshError(`The registry's server for tokens is "${text}"`);
  }
  return realm;
}
