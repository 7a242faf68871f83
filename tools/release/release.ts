/** What a release is made of; the files of this folder turn it into archives, packages and documents. */
import type { SourceState } from "../compile/source_state.ts";
import type { Platform } from "../compile/platforms.ts";

/** A binary of the release. */
export interface Binary {
  readonly platform: Platform;
  readonly content: Uint8Array<ArrayBuffer>;
}

/** A release. */
export interface Release {
  /** Without `v`. */
  readonly version: string;
  readonly source: SourceState & { readonly seconds: number };
  /** `https://github.com/OWNER/NAME`, without a slash at the end. */
  readonly homepage: string;
  readonly binaries: readonly Binary[];
  /** What is beside the binary in each archive. */
  readonly documents: readonly Document[];
}

/** A file of an archive or of the release. */
export interface Document {
  readonly name: string;
  readonly content: Uint8Array<ArrayBuffer>;
}

/** A name of Go, as kubectl's plugins have it: `linux`, `amd64`. */
export interface GoPlatform {
  readonly os: string;
  readonly arch: string;
}

/** The parts of the name of a platform. */
export function goPlatform({ name }: Platform): GoPlatform {
  const [os = "", arch = ""] = name.split("-");
  return { os, arch };
}

/** Where a file of the release can be had. */
export function downloadUrl({ homepage, version }: Pick<Release, "homepage" | "version">, name: string): string {
  return `${homepage}/releases/download/v${version}/${name}`;
}

/** A text as a document. */
export function document(name: string, text: string): Document {
  return { name, content: new TextEncoder().encode(text) };
}
