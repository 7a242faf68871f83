import { MeshError } from "../../errors.ts";
import { countLines } from "../position.ts";
import type { SourceDocument } from "../source_document.ts";
import { sizeText } from "./size_text.ts";
import { Splitter } from "./splitter.ts";

const MIB = 1024 * 1024;
const LINE_FEED = 10;

/** How much of a file is taken. */
export interface SplitOptions {
  /** The name that places and documents carry; `""` if there is none. */
  readonly file: string;
  /** Longest document in bytes: 16 MiB unless told. */
  readonly maxBytes?: number;
  /** Longest file in bytes: no limit unless told. */
  readonly maxTotal?: number;
}

/** All documents of a text, split as `splitDocuments` does. Throws also for a document that cannot be read. */
export function splitText(text: string, file: string, maxLength = 16 * MIB): SourceDocument[] {
  refuseNul(text, file, 1);
  const splitter = new Splitter(file, { maxLength });
  const documents = [...splitter.take(text), ...splitter.end()];
  const problem = documents.find((document) => document.problem !== undefined)?.problem;
  if (problem !== undefined) throw problem;
  return documents;
}

/**
 * The documents of a file as they arrive, never more than one and a chunk in memory. The separators and texts joined
 * are the file; only a document that is not UTF-8 has other characters in it. Such a one and one with words on its
 * separator has a `problem`. Throws a MeshError with file and line for UTF-16, NUL bytes, and a file or document that is
 * too long.
 */
export async function* splitDocuments(
  chunks: AsyncIterable<Uint8Array>,
  options: SplitOptions,
): AsyncGenerator<SourceDocument> {
  const splitter = new Splitter(options.file, { maxLength: options.maxBytes ?? 16 * MIB });
  const lines = new LineBytes(options, () => splitter.line);
  for await (const chunk of chunks) {
    for (const bytes of lines.take(chunk)) yield* takeBytes(splitter, bytes, options.file);
  }
  for (const bytes of lines.end()) yield* takeBytes(splitter, bytes, options.file);
  yield* splitter.end();
}

/** Lines that are no text spoil the documents that they are in and no other. */
function* takeBytes(splitter: Splitter, bytes: Uint8Array, file: string): Generator<SourceDocument> {
  const text = decoded(bytes);
  if (text !== undefined && !text.includes("\0")) return yield* splitter.take(text);
  for (let from = 0; from < bytes.length;) {
    const end = bytes.indexOf(LINE_FEED, from) + 1 || bytes.length;
    const line = bytes.subarray(from, end);
    refuseNul(line.includes(0) ? "\0" : "", file, splitter.line);
    if (decoded(line) === undefined) splitter.spoil(notUtf8(file, splitter.line));
    yield* splitter.take(lenient.decode(line));
    from = end;
  }
}

/** Joins chunks so that each piece ends with a line end: a character or line is never cut in two. */
class LineBytes {
  readonly #options: SplitOptions;
  #rest: Uint8Array[] = [];
  #restLength = 0;
  #total = 0;

  /** `line` tells the line that the next piece begins with. */
  constructor(options: SplitOptions, readonly line: () => number) {
    this.#options = options;
  }

  *take(chunk: Uint8Array): Generator<Uint8Array> {
    if (this.#total === 0) refuseUtf16(chunk, this.#options.file);
    this.#total += chunk.length;
    if (this.#total > (this.#options.maxTotal ?? Infinity)) this.#refuse("file", this.#options.maxTotal);
    const end = chunk.lastIndexOf(LINE_FEED) + 1;
    if (end > 0) {
      this.#hold(chunk.subarray(0, end));
      yield* this.end();
    }
    if (end < chunk.length) this.#hold(chunk.slice(end));
  }

  *end(): Generator<Uint8Array> {
    if (this.#restLength === 0) return;
    const joined = this.#rest.length === 1 ? this.#rest[0] : concat(this.#rest, this.#restLength);
    this.#rest = [];
    this.#restLength = 0;
    if (joined !== undefined) yield joined;
  }

  #hold(bytes: Uint8Array): void {
    this.#rest.push(bytes);
    this.#restLength += bytes.length;
    const limit = this.#options.maxBytes ?? 16 * MIB;
    if (this.#rest.length > 1 && this.#restLength > 4 * limit) this.#refuse("line", limit);
  }

  #refuse(what: string, limit: number | undefined): never {
    throw new MeshError(`A ${what} is longer than ${sizeText(limit ?? 0, "bytes")}`, {
      place: { file: this.#options.file, line: this.line() },
      hint: "is this a manifest?",
    });
  }
}

function concat(parts: readonly Uint8Array[], length: number): Uint8Array {
  const joined = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const lenient = new TextDecoder("utf-8", { ignoreBOM: true });

function decoded(bytes: Uint8Array): string | undefined {
  try {
    return strict.decode(bytes);
  } catch {
    return undefined;
  }
}

function notUtf8(file: string, line: number): MeshError {
  return new MeshError("The text is not valid UTF-8", { place: { file, line }, hint: "save the file as UTF-8" });
}

function refuseNul(text: string, file: string, line: number): void {
  const at = text.indexOf("\0");
  if (at < 0) return;
  throw new MeshError("This is not text: it holds a NUL byte", {
    place: { ...(file === "" ? {} : { file }), line: line + countLines(text, at) },
    hint: "give a YAML or JSON file",
  });
}

function refuseUtf16(chunk: Uint8Array, file: string): void {
  const mark = (chunk[0] ?? 0) << 8 | (chunk[1] ?? 0);
  if (mark !== 0xfffe && mark !== 0xfeff) return;
  throw new MeshError("The text is UTF-16", { place: { file, line: 1 }, hint: "save the file as UTF-8" });
}
