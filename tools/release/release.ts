/** The parts of a release. The other modules in this folder make archives, packages and documents from them. */
import type { SourceState } from "../compile/source_state.ts";
import type { Platform } from "../compile/platforms.ts";

/** A binary of the release. */
export interface Binary {
  readonly platform: Platform;
  readonly content: Uint8Array<ArrayBuffer>;
}

/** A release. */
export interface Release {
  /** The version without a leading `v`. */
  readonly version: string;
  readonly source: SourceState & { readonly seconds: number };
  /** `https://github.com/OWNER/NAME`, without a slash at the end. */
  readonly homepage: string;
  readonly binaries: readonly Binary[];
  /** Files next to the binary in each archive. */
  readonly documents: readonly Document[];
}

/** A file in an archive or in the release. */
export interface Document {
  readonly name: string;
  readonly content: Uint8Array<ArrayBuffer>;
}

/** GOOS and GOARCH, as kubectl plugins name platforms: `linux`, `amd64`. */
export interface GoPlatform {
  readonly os: string;
  readonly arch: string;
}

/** Splits the name of a platform into GOOS and GOARCH. */
export function goPlatform({ name }: Platform): GoPlatform {
  const [os = "", arch = ""] = name.split("-");
  return { os, arch };
}

/** Returns the URL of a file in the release. */
export function downloadUrl({ homepage, version }: Pick<Release, "homepage" | "version">, name: string): string {
  return `${homepage}/releases/download/v${version}/${name}`;
}

export function document(name: string, text: string): Document {
  return { name, content: new TextEncoder().encode(text) };
}
