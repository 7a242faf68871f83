/** Reads and writes snapshots as one file, a tar archive compressed with gzip. */
import { createTarDecoder, createTarPacker } from "modern-tar";
import { MeshError, messageOf } from "../../base/errors.ts";
import type { Removed } from "../../kube/redact/mod.ts";
import type { World } from "../../platform/world.ts";
import { absentPart, type Part, PART_NAMES, type PartName, type Snapshot } from "./snapshot.ts";
import { isSnapshotFile, MANIFEST, manifestText, savedSnapshot, sizeProblem } from "./manifest.ts";
import { withoutSecrets } from "./redact.ts";

/** Maximum decompressed size in bytes, larger than the sum of all parts at their maximum size. */
const MAX_BYTES = 512 * 1024 * 1024;
/** Maximum overhead of the tar format in bytes, for each file and at the end of the archive. */
const FRAME = 1024;
/** Maximum size in bytes of the additional file that an archive can contain next to its pods. */
const MAX_BESIDE = 32 * 1024 * 1024;
/** Maximum number of entries. A snapshot has about fifteen, and an archive can contain hundreds of pods. */
const MAX_ENTRIES = 10_000;

/** Whether a file starts with the gzip magic bytes. */
export async function isArchive(world: World, path: string): Promise<boolean> {
  for await (const chunk of world.files.chunks(path)) return chunk[0] === 0x1f && chunk[1] === 0x8b;
  return false;
}

/**
 * Reads an archive of one or several pods, in memory. Ignores other files. Throws a MeshError for a file that is not an
 * archive, is truncated or too large, or does not contain a snapshot.
 */
export async function readArchive(world: World, path: string): Promise<readonly Snapshot[]> {
  const folders = new Map<string, Map<string, Part>>();
  let entries = 0;
  try {
    const stream = ReadableStream.from(bounded(decompressed(world.files.chunks(path))));
    for await (const { header, body } of stream.pipeThrough(createTarDecoder({ strict: true }))) {
      if (++entries > MAX_ENTRIES) throw new MeshError(`The archive has more than ${MAX_ENTRIES} files`);
      // Archives made with `tar` can have a folder before the name.
      const at = header.name.lastIndexOf("/") + 1;
      const [folder, name] = [header.name.slice(0, at), header.name.slice(at)];
      const isWanted = isSnapshotFile(name) && header.type === "file";
      const problem = sizeProblem(name, header.size);
      if (!isWanted || problem !== undefined) await body.cancel();
      if (!isWanted) continue;
      const part = problem ?? textPart(name, await new Response(body).bytes());
      folders.set(folder, (folders.get(folder) ?? new Map()).set(name, part));
    }
  } catch (error) {
    const why = messageOf(error).replace(/^Invalid .*/, "it is not a tar archive, or it is damaged").replace(/\.$/, "");
    throw new MeshError(`The snapshot cannot be read: ${why}`, { place: { file: path }, cause: error });
  }
  return podsOf([...folders.values()]).map((files) => {
    if (files.has(MANIFEST)) return savedSnapshot(files, path);
    throw new MeshError(`The archive does not contain ${MANIFEST}: "kubectl mesh snapshot" did not create it`, {
      place: { file: path },
    });
  });
}

/** Splits files into pods. With several manifests, each folder is a pod; otherwise all files belong to one pod. */
function podsOf(folders: readonly ReadonlyMap<string, Part>[]): readonly ReadonlyMap<string, Part>[] {
  const pods = folders.filter((files) => files.has(MANIFEST));
  return pods.length > 1 ? pods : [new Map(folders.flatMap((files) => [...files]))];
}

function textPart(name: string, content: Uint8Array): Part {
  try {
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(content) };
  } catch {
    // The decoder throws a TypeError for bytes that are not UTF-8.
    return absentPart("malformed", `${name} is not UTF-8 text`);
  }
}

function decompressed(chunks: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  return ReadableStream.from(copies(chunks)).pipeThrough(new DecompressionStream("gzip"));
}

async function* copies(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  for await (const chunk of chunks) yield new Uint8Array(chunk);
}

async function* bounded(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new MeshError(`The unpacked archive has more than ${MAX_BYTES} bytes`);
    yield chunk;
  }
}

interface ArchiveOptions {
  readonly path: string;
  readonly program: string;
  /** Whether each pod has its own folder. */
  readonly isMany: boolean;
  /** Returns an additional file without secrets. Called after all pods are written. */
  readonly beside?: () => { readonly name: string; readonly text: string } | undefined;
  /** Called for each pod, with the number of redacted values. */
  readonly written: (snapshot: Snapshot, redacted: number) => void;
  /** Called with the origin of a pod, or the name of a file, that does not fit into the archive. */
  readonly full?: (what: string) => void;
}

/**
 * Writes an archive without secrets, atomically and readable only by its owner. Returns its size in bytes. Throws a
 * MeshError if the file cannot be written, and any error from reading the snapshots.
 */
export async function writeArchive(
  world: World,
  snapshots: AsyncIterable<Snapshot>,
  { path, program, isMany, written, full, beside }: ArchiveOptions,
): Promise<number> {
  const { readable, controller } = createTarPacker();
  const add = async (name: string, content: Uint8Array<ArrayBuffer>, mtime: Date) => {
    const body = controller.add({ name, size: content.length, mode: 0o600, mtime }).getWriter();
    await body.write(content);
    await body.close();
  };
  const contents = async () => {
    const space = new Space();
    let number = 0;
    for await (const snapshot of snapshots) {
      const { files, redacted } = filesOf(snapshot, program);
      if (!space.takes([...files.values()])) {
        full?.(snapshot.origin);
        continue;
      }
      const folder = isMany ? `${++number}/` : "";
      for (const [name, content] of files) await add(`${folder}${name}`, content, snapshot.time ?? world.clock.now());
      written(snapshot, redacted);
    }
    const file = beside?.();
    if (file === undefined) return;
    const content = new TextEncoder().encode(file.text);
    if (content.length <= MAX_BESIDE) await add(file.name, content, world.clock.now());
    else full?.(file.name);
  };
  contents().then(() => controller.finalize(), (error) => controller.error(error));
  const replacement = world.files.replace(path, 0o600);
  let bytes = 0;
  try {
    for await (const chunk of readable.pipeThrough(new CompressionStream("gzip"))) {
      bytes += chunk.length;
      replacement.write(chunk);
    }
    replacement.commit();
  } catch (error) {
    replacement.abort();
    throw error;
  }
  return bytes;
}

/** Free space of an archive within the limits of `readArchive`. Reserves space for the additional file. */
class Space {
  #bytes = MAX_BYTES - MAX_BESIDE - 2 * FRAME;
  #files = MAX_ENTRIES - 1;

  /** Reserves space for all of these files. Returns `false` if they do not fit. */
  takes(files: readonly Uint8Array[]): boolean {
    const bytes = files.reduce((sum, { length }) => sum + length + FRAME, 0);
    if (bytes > this.#bytes || files.length > this.#files) return false;
    this.#bytes -= bytes;
    this.#files -= files.length;
    return true;
  }
}

/** Returns the files of a pod without secrets, and the number of redacted values. */
function filesOf(snapshot: Snapshot, program: string) {
  const encoder = new TextEncoder();
  const files = new Map<string, Uint8Array<ArrayBuffer>>();
  const removed = new Map<PartName, readonly Removed[]>();
  for (const name of PART_NAMES) {
    const { text } = snapshot.parts[name];
    if (text === undefined) continue;
    const safe = withoutSecrets(name, text);
    removed.set(name, safe.removed);
    files.set(name, encoder.encode(safe.text));
  }
  files.set(MANIFEST, encoder.encode(manifestText(snapshot, { program, removed })));
  return { files, redacted: [...removed.values()].flat().length };
}
