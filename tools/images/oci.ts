/** OCI image layouts (image-spec v1.1): `oci-layout`, `index.json` and blobs by their SHA-256. */
import { ENVIRONMENT, type Image } from "./images.ts";
import { digestOf, type Layer } from "./layer.ts";

const TYPES = {
  index: "application/vnd.oci.image.index.v1+json",
  manifest: "application/vnd.oci.image.manifest.v1+json",
  config: "application/vnd.oci.image.config.v1+json",
  layer: "application/vnd.oci.image.layer.v1.tar+gzip",
} as const;

/** Properties that all images of a build share. */
export interface Release {
  readonly version: string;
  /** The commit; `""` if unknown. */
  readonly revision: string;
  /** GOARCH's name, such as `amd64`. */
  readonly architecture: string;
  /** The time of all files and of the image, in seconds since 1970. */
  readonly seconds: number;
}

/** Returns the files of a layout, by path. The same arguments give the same bytes. */
export function layoutOf(
  image: Image,
  layers: readonly Layer[],
  release: Release,
): Map<string, Uint8Array<ArrayBuffer>> {
  const files = new Map<string, Uint8Array<ArrayBuffer>>();
  const descriptor = (mediaType: string, bytes: Uint8Array<ArrayBuffer>) => {
    const digest = digestOf(bytes);
    files.set(`blobs/${digest.replace(":", "/")}`, bytes);
    return { mediaType, digest, size: bytes.length };
  };
  const config = descriptor(TYPES.config, bytesOf(configOf(image, layers, release)));
  const manifest = descriptor(
    TYPES.manifest,
    bytesOf({
      schemaVersion: 2,
      mediaType: TYPES.manifest,
      config,
      layers: layers.map(({ blob }) => descriptor(TYPES.layer, blob)),
    }),
  );
  const platform = { architecture: release.architecture, os: "linux" };
  const annotations = { "org.opencontainers.image.ref.name": release.version };
  const index = { schemaVersion: 2, mediaType: TYPES.index, manifests: [{ ...manifest, platform, annotations }] };
  files.set("index.json", bytesOf(index));
  files.set("oci-layout", bytesOf({ imageLayoutVersion: "1.0.0" }));
  return files;
}

function configOf(image: Image, layers: readonly Layer[], { version, revision, architecture, seconds }: Release) {
  const created = new Date(seconds * 1000).toISOString();
  return {
    created,
    architecture,
    os: "linux",
    config: {
      User: image.user,
      Env: ENVIRONMENT,
      Entrypoint: image.entrypoint,
      ...image.command.length === 0 ? {} : { Cmd: image.command },
      WorkingDir: "/",
      Labels: {
        "org.opencontainers.image.description": image.title,
        "org.opencontainers.image.licenses": "Apache-2.0",
        ...revision === "" ? {} : { "org.opencontainers.image.revision": revision },
        "org.opencontainers.image.version": version,
      },
    },
    rootfs: { type: "layers", diff_ids: layers.map(({ diffId }) => diffId) },
    history: layers.map(({ title }) => ({ created, created_by: title })),
  };
}

function bytesOf(value: object): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(`${JSON.stringify(value)}\n`);
}
