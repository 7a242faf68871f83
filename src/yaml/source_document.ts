import type { MeshError } from "../base/errors.ts";

/** One document of a file with its text. The separators and texts of all documents, joined in order, are the file. */
export interface SourceDocument {
  readonly file: string;
  /** The document's number in the file, from 1. */
  readonly index: number;
  /** The line of the file where the text starts, from 1. */
  readonly line: number;
  /** The document exactly as in the file, with its line breaks. */
  readonly text: string;
  /** The line `---` before the document with its line break, or `""`. */
  readonly separator: string;
  /** Why the document cannot be read: it has bytes that are not UTF-8, or text on the separator line. */
  readonly problem?: MeshError;
}
