/**
 * Fetches modules from images in OCI registries. Source: pilot-agent's `imagefetcher`, the OCI distribution
 * specification.
 */
import { MeshError } from "../../base/errors.ts";
import { isList, mapAt, mapsAt, textAt, type ValueMap } from "../../base/value.ts";
import { AnswerError } from "../../platform/http.ts";
import type { World } from "../../platform/world.ts";
import { credentialFor, type Keychain } from "./keychain.ts";
import { authorized, jsonOf } from "./token.ts";
import { filesOfTar, gunzip, MAX_MODULE, readAll, sha256Of } from "./unpack.ts";

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

/**
 * Parses `HOST/REPOSITORY` with an optional `:TAG` or `@sha256:...`; the default tag is `latest`. Throws a MeshError if
 * the URL does not name an image.
 */
export function imageName(url: string): ImageName {
  const { host, path } = hostAndPath(url.startsWith("oci://") ? url.slice("oci://".length) : "");
  const [, name = "", tag = "latest", digest] = IMAGE.exec(path) ?? [];
  if (name === "") throw new MeshError(`"${url}" does not name an image`);
  const isDocker = host === "docker.io";
  return {
    host: isDocker ? "index.docker.io" : host,
    repository: isDocker && !name.includes("/") ? `library/${name}` : name,
    reference: digest ?? tag,
  };
}

/** Splits an image name. The first part is a host if it contains a dot or a port, or is `localhost`. */
function hostAndPath(image: string): { readonly host: string; readonly path: string } {
  const slash = image.indexOf("/");
  const first = image.slice(0, Math.max(slash, 0));
  if (first !== "localhost" && !/[.:]/.test(first)) return { host: "docker.io", path: image };
  return { host: first, path: image.slice(slash + 1) };
}

interface Access extends Keychain {
  readonly isInsecure: boolean;
  readonly signal: AbortSignal;
}

/** An image with a known manifest, and its module, which is not fetched yet. */
export interface Image {
  /** SHA-256 of the manifest, in hex. */
  readonly digest: string;
  load(): Promise<Uint8Array<ArrayBuffer>>;
}

/** Reads an image's manifest. Rejects with a MeshError that contains the registry's response. */
export async function openImage(world: World, url: string, access: Access): Promise<Image> {
  const image = imageName(url);
  const registry = registryAt(world, image, access);
  let [bytes, expected] = [await registry.manifest(image.reference), digestOf(image.reference)];
  const index = jsonOf(bytes);
  const choice = isList(index["manifests"]) ? chosen(mapsAt(index, "manifests")) : undefined;
  if (choice !== undefined) [bytes, expected] = [await registry.manifest(choice), digestOf(choice)];
  const digest = await sha256Of(bytes);
  if (expected !== undefined && expected !== digest) {
    throw new MeshError(`The SHA-256 of the manifest is ${digest}, not ${expected}`);
  }
  return { digest, load: () => moduleOf(jsonOf(bytes), registry.blob) };
}

function digestOf(reference: string): string | undefined {
  return /^sha256:([0-9a-f]{64})$/.exec(reference)?.[1];
}

/** Returns the image for linux/amd64, as Istio does; modules are the same for all platforms. */
function chosen(manifests: readonly ValueMap[]): string {
  const isAmd64 = (each: ValueMap) => textAt(mapAt(each, "platform"), "architecture") === "amd64";
  return textAt(manifests.find(isAmd64) ?? manifests[0] ?? {}, "digest");
}

/**
 * Fetches the module. The media type shows whether the layer is an archive with a `plugin.wasm`, or the
 * module itself.
 */
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
    throw new MeshError(`The image contains no Wasm module: the media type of its last layer is "${type}"`);
  }
  const layer = await gunzip(await blob(textAt(last, "digest")));
  for (const [name, file] of filesOfTar(layer)) if (name.split("/").at(-1) === "plugin.wasm") return file;
  throw new MeshError('The image has no file "plugin.wasm"');
}

function registryAt(world: World, image: ImageName, access: Access) {
  const { host, repository } = image;
  let authorization: string | undefined;
  let scheme = "https";
  async function get(path: string, accept: string, bytes = MAX_MODULE): Promise<Uint8Array<ArrayBuffer>> {
    const ask = async () => {
      const headers = { accept, ...authorization === undefined ? {} : { authorization } };
      const options = { headers, insecure: access.isInsecure, signal: access.signal, limits: { bytes } };
      return await readAll(await world.network.fetch(`${scheme}://${host}/v2/${repository}/${path}`, options), bytes);
    };
    try {
      return await ask().catch((error) => {
        // A registry in the cluster may use plain text.
        if (error instanceof AnswerError || !access.isInsecure || scheme === "http") throw error;
        scheme = "http";
        return ask();
      });
    } catch (error) {
      if (!(error instanceof AnswerError) || error.status !== 401 || authorization !== undefined) throw error;
      const found = await credentialFor(world, image, access);
      authorization = await authorized(world, error.headers.get("www-authenticate") ?? "", { host, found, ...access });
      return await ask().catch((again) => {
        throw again instanceof AnswerError && "missing" in found
          ? new MeshError(`${again.message}: ${found.missing}`)
          : again;
      });
    }
  }
  return {
    manifest: async (reference: string) => await get(`manifests/${reference}`, MANIFESTS.join(", "), MAX_MANIFEST),
    async blob(digest: string) {
      const body = await get(`blobs/${digest}`, "*/*");
      if (await sha256Of(body) !== digestOf(digest)) {
        throw new MeshError(`The SHA-256 of the layer does not match "${digest}"`);
      }
      return body;
    },
  };
}
