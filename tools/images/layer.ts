import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { packTar } from "modern-tar";
import { complete, type Entry, isFolder, modeOf } from "./entry.ts";

/** A layer of an image. */
export interface Layer {
  /** What it holds, for the history. */
  readonly title: string;
  /** The compressed archive, and its digest. */
  readonly blob: Uint8Array<ArrayBuffer>;
  readonly digest: string;
  /** The digest of the archive itself. */
  readonly diffId: string;
  /** Bytes of the archive itself. */
  readonly size: number;
}

/** `sha256:...` */
export function digestOf(bytes: Uint8Array): string {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}

/** The layer of entries: the same entries, in any order, give the same bytes. `seconds` is the time of all of them. */
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
  // The byte for the operating system, which zlib sets (RFC 1952): unknown.
  blob[9] = 255;
  return { title, blob, digest: digestOf(blob), diffId: digestOf(tar), size: tar.length };
}
