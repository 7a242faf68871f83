/** What is wrong with a document, and at which offset of its text; the caller knows file and line. */
export class Problem extends Error {
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}
