import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { packTar } from "modern-tar";
import { complete, type Entry, isFolder, modeOf } from "./entry.ts";

/** A layer of an image. */
export interface Layer {
  /** A description of the content, for the image's history. */
  readonly title: string;
  /** The compressed archive, and its digest. */
  readonly blob: Uint8Array<ArrayBuffer>;
  readonly digest: string;
  /** The digest of the uncompressed archive. */
  readonly diffId: string;
  /** The size of the uncompressed archive, in bytes. */
  readonly size: number;
}

/** `sha256:...` */
export function digestOf(bytes: Uint8Array): string {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}

/**
 * Makes a layer from entries. The order of the entries does not change the bytes. `seconds` is the modification time of
 * all entries.
 */
export async function layerOf(title: string, entries: readonly Entry[], seconds: number): Promise<Layer> {
  const mtime = new Date(seconds * 1000);
  const tar = await packTar(
    complete(entries).map((entry) => {
      const { path, content, target, owner = 0 } = entry;
      const common = { mtime, uid: owner, gid: owner, mode: modeOf(entry) };
      if (target !== undefined) {
        return { header: { ...common, name: path, type: "symlink", linkname: target, mode: 0o777, size: 0 } };
      }
      if (isFolder(entry)) return { header: { ...common, name: `${path}/`, type: "directory", size: 0 } };
      return { header: { ...common, name: path, type: "file", size: content?.length ?? 0 }, body: content ?? null };
    }),
  );
  const blob = new Uint8Array(gzipSync(tar));
  // The byte for the operating system (RFC 1952), which zlib sets, becomes "unknown".
  blob[9] = 255;
  return { title, blob, digest: digestOf(blob), diffId: digestOf(tar), size: tar.length };
}
