/** A problem at an offset of a document's text. The caller adds file and line. */
export class Problem extends Error {
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}
