/** A problem at an offset of a document's text. The caller adds file and line. */
export class Problem extends Error {
  constructor(message: string, readonly offset: number) {
    super(message);
  }
}
