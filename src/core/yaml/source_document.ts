import type { MeshError } from "../errors.ts";

/** One document of a file, with the text it had there: the texts and separators of all documents, joined, are the file. */
export interface SourceDocument {
  readonly file: string;
  /** Which document of the file, from 1. */
  readonly index: number;
  /** The line of the file on which the text begins, from 1. */
  readonly line: number;
  /** The document exactly as in the file, line ends kept. */
  readonly text: string;
  /** The line `---` before the document with its line end, `""` if there is none. */
  readonly separator: string;
  /** Why the text cannot be read: bytes that are not UTF-8, or words on the separator. */
  readonly problem?: MeshError;
}
