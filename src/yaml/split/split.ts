import { joinBytes, sameBytes } from "../../base/bytes.ts";
import { MeshError } from "../../base/errors.ts";
import { countLines } from "../position.ts";
import type { SourceDocument } from "../source_document.ts";
import { sizeText, Splitter } from "./splitter.ts";

const LINE_FEED = 10;

interface SplitOptions {
  /** The file's name in messages and documents, or `""`. */
  readonly file: string;
  /** Maximum size of a document, in bytes. */
  readonly maxBytes?: number;
}

const MAX_BYTES = 16 * 1024 * 1024;

/** All documents of a text, split as in `splitDocuments`. Also throws if a document cannot be read. */
export function splitText(text: string, file: string): SourceDocument[] {
  refuseNul(text, file, 1);
  const splitter = new Splitter(file, MAX_BYTES);
  const documents = [...splitter.take(text), ...splitter.end()];
  const problem = documents.find((document) => document.problem !== undefined)?.problem;
  if (problem !== undefined) throw problem;
  return documents;
}

/**
 * Yields the documents of a file as they arrive, with at most one document and one chunk in memory. The separators and
 * texts, joined in order, are the file. A document has a `problem` if it is not UTF-8 (its text is
 * then lossy), or if there is text on its separator line.
 * Throws a MeshError with file and line for UTF-16, NUL bytes, and a line or document that is too long.
 */
export async function* splitDocuments(
  chunks: AsyncIterable<Uint8Array>,
  { file, maxBytes = MAX_BYTES }: SplitOptions,
): AsyncGenerator<SourceDocument> {
  const splitter = new Splitter(file, maxBytes);
  const tooLong = () =>
    new MeshError(`A line is longer than ${sizeText(maxBytes, "bytes")}`, {
      place: { file, line: splitter.line },
      hint: "is this a manifest?",
    });
  let isFirst = true;
  for await (const bytes of wholeLines(chunks, 4 * maxBytes, tooLong)) {
    if (isFirst) refuseUtf16(bytes, file);
    isFirst = false;
    yield* takeBytes(splitter, bytes, file);
  }
  yield* splitter.end();
}

/** Joins chunks into pieces that end with a line break, so that no character or line is cut in two. */
async function* wholeLines(
  chunks: AsyncIterable<Uint8Array>,
  maxBytes: number,
  tooLong: () => MeshError,
): AsyncGenerator<Uint8Array> {
  let held: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    const end = chunk.lastIndexOf(LINE_FEED) + 1;
    if (end > 0) {
      yield joinBytes([...held, chunk.subarray(0, end)]);
      held = [];
      size = 0;
    }
    if (end < chunk.length) held.push(chunk.slice(end));
    size += chunk.length - end;
    if (held.length > 1 && size > maxBytes) throw tooLong();
  }
  if (size > 0) yield joinBytes(held);
}

/** Passes lines to the splitter. A line that is not UTF-8 makes only the document of that line unreadable. */
function* takeBytes(splitter: Splitter, bytes: Uint8Array, file: string): Generator<SourceDocument> {
  const text = decoded(bytes);
  if (text !== undefined && !text.includes("\0")) return yield* splitter.take(text);
  for (let from = 0; from < bytes.length;) {
    const end = bytes.indexOf(LINE_FEED, from) + 1 || bytes.length;
    const line = bytes.subarray(from, end);
    refuseNul(line.includes(0) ? "\0" : "", file, splitter.line);
    const text = lenient.decode(line);
    // Compares bytes, because an exception of the strict decoder for each line would take most of the time.
    if (!sameBytes(encoder.encode(text), line)) {
      splitter.markUnreadable(() => notUtf8(file, splitter.line));
    }
    yield* splitter.take(text);
    from = end;
  }
}

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const encoder = new TextEncoder();
const lenient = new TextDecoder("utf-8", { ignoreBOM: true });

function decoded(bytes: Uint8Array): string | undefined {
  try {
    return strict.decode(bytes);
  } catch {
    // TypeError: the bytes are not UTF-8.
    return undefined;
  }
}

function notUtf8(file: string, line: number): MeshError {
  return new MeshError("The text is not valid UTF-8", { place: { file, line }, hint: "save the file as UTF-8" });
}

function refuseNul(text: string, file: string, line: number): void {
  const at = text.indexOf("\0");
  if (at < 0) return;
  throw new MeshError("The file is not text: it contains a NUL byte", {
    place: { ...(file === "" ? {} : { file }), line: line + countLines(text, at) },
    hint: "give a YAML or JSON file",
  });
}

function refuseUtf16(chunk: Uint8Array, file: string): void {
  const mark = (chunk[0] ?? 0) << 8 | (chunk[1] ?? 0);
  if (mark !== 0xfffe && mark !== 0xfeff) return;
  throw new MeshError("The text is UTF-16", { place: { file, line: 1 }, hint: "save the file as UTF-8" });
}
