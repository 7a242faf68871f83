import { gzipSync } from "node:zlib";
import { zipSync } from "fflate";
import { packTar } from "modern-tar";
import { type Binary, type Document, goPlatform, type Release } from "./release.ts";

/**
 * Makes the archive of a binary: the program and the documents, without a top-level folder. All files have the time of
 * the commit.
 */
export async function archiveOf(
  { version, source, documents }: Release,
  { platform, content }: Binary,
): Promise<Document> {
  const { os, arch } = goPlatform(platform);
  const program = { name: `kubectl-mesh${platform.extension}`, content, mode: 0o755 };
  const files = [program, ...documents.map((each) => ({ ...each, mode: 0o644 }))];
  const [ending, pack] = os === "windows" ? ["zip", zip] as const : ["tar.gz", tarGz] as const;
  return { name: `kubectl-mesh_${version}_${os}_${arch}.${ending}`, content: await pack(files, source.seconds) };
}

interface File extends Document {
  readonly mode: number;
}

async function tarGz(files: readonly File[], seconds: number): Promise<Uint8Array<ArrayBuffer>> {
  const mtime = new Date(seconds * 1000);
  const entries = files.map(({ name, content, mode }) => ({
    header: { name, size: content.length, mode, mtime },
    body: content,
  }));
  return new Uint8Array(gzipSync(await packTar(entries), { level: 9 }));
}

/** Zip stores local times without a time zone, so the time is shifted by the local offset to read as UTC. */
function zip(files: readonly File[], seconds: number): Uint8Array<ArrayBuffer> {
  const local = new Date(seconds * 1000 + new Date(seconds * 1000).getTimezoneOffset() * 60_000);
  const entries = files.map(({ name, content }) => [name, content] as const);
  return new Uint8Array(zipSync(Object.fromEntries(entries), { level: 9, mtime: local }));
}
