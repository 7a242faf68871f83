/** A file of texts that only this user can write, for caches. */
import { joinBytes } from "../../bytes.ts";
import type { KeptTexts } from "../world.ts";
import { writeWhole } from "./streams.ts";

/** The first line: a file without it is not one of this program's, and is never written. */
const HEADER = "kubectl-mesh cache 3\n";

/** A text that makes the file larger begins it anew. */
const MAX_BYTES = 4 * 1024 * 1024;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** What others than the owner may do. */
const OTHERS = 0o077;

/**
 * Opens the file `name` in `folder`, and makes both, and the folder's parent. `undefined` if that fails, or if another user could
 * write or replace them: the folder must be a folder and no link, of this user alone. Texts are appended whole by one write, so several processes can.
 */
export function keptTexts(folder: string, name: string): KeptTexts | undefined {
  try {
    makeFolder(folder.slice(0, folder.lastIndexOf("/")));
    makeFolder(folder);
    const path = `${folder}/${name}`;
    if (!isPrivate(Deno.lstatSync(folder), "isDirectory")) return undefined;
    const file = Deno.openSync(path, { read: true, append: true, create: true, mode: 0o600 });
    const texts = isSameFile(Deno.lstatSync(path), file.statSync()) ? textsOf(file) : undefined;
    if (texts === undefined) file.close();
    return texts;
  } catch {
    return undefined;
  }
}

/** An error of the runtime takes a tenth of a millisecond: the folder is made only if it is not there. */
function makeFolder(folder: string): void {
  try {
    Deno.lstatSync(folder);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    Deno.mkdirSync(folder, { mode: 0o700 });
  }
}

function isPrivate(info: Deno.FileInfo, kind: "isFile" | "isDirectory"): boolean {
  return info[kind] && info.uid === Deno.uid() && info.mode !== null && (info.mode & OTHERS) === 0;
}

/** Whether a name stands for the opened file, and not for a link to it. */
function isSameFile(named: Deno.FileInfo, opened: Deno.FileInfo): boolean {
  return isPrivate(named, "isFile") && named.nlink === 1 && named.ino === opened.ino && named.dev === opened.dev;
}

/** A text and its name in the file: `NAME BYTES`, a line break, the text, a line break. */
interface Place {
  readonly name: string;
  readonly start: number;
  readonly bytes: number;
}

/** Names are shorter. */
const HEAD_BYTES = 256;
const HEAD = /^(\S+) (\d+)\n/;

/** `undefined` if the file is not one of this program's. */
function textsOf(file: Deno.FsFile): KeptTexts | undefined {
  const { size } = file.statSync();
  if (size > 0 && textFrom(file, 0, HEADER.length) !== HEADER) return undefined;
  const { places, end } = placesIn(file, size);
  return {
    *find(name) {
      for (const { start, bytes } of places.filter((place) => place.name === name).toReversed()) {
        yield textFrom(file, start, bytes);
      }
    },
    add(name, text) {
      try {
        const bytes = encoder.encode(text);
        const record = joinBytes([encoder.encode(`${name} ${bytes.length}\n`), bytes, encoder.encode("\n")]);
        if (HEADER.length + record.length > MAX_BYTES) return;
        // What was cut off would hide what follows.
        const isNew = size === 0 || end !== size || size + record.length > MAX_BYTES;
        if (isNew) file.truncateSync(0);
        writeWhole(file, isNew ? joinBytes([encoder.encode(HEADER), record]) : record);
      } catch {
        // The next run does the work again.
      }
    },
    close: () => file.close(),
  };
}

/** The whole texts of a file, and where the last one ends. */
function placesIn(file: Deno.FsFile, size: number): { readonly places: readonly Place[]; readonly end: number } {
  const places: Place[] = [];
  let end = HEADER.length;
  while (end < Math.min(size, MAX_BYTES)) {
    const [head, name = "", bytes = ""] = HEAD.exec(textFrom(file, end, HEAD_BYTES)) ?? [];
    const place = { name, start: end + (head ?? "").length, bytes: Number(bytes) };
    if (head === undefined || place.start + place.bytes + 1 > size) break;
    places.push(place);
    end = place.start + place.bytes + 1;
  }
  return { places, end };
}

function textFrom(file: Deno.FsFile, start: number, count: number): string {
  const bytes = new Uint8Array(count);
  file.seekSync(start, Deno.SeekMode.Start);
  return decoder.decode(bytes.subarray(0, file.readSync(bytes) ?? 0));
}
