/** A problem of a document at an offset of its text; the caller knows file and line. */
export class Problem extends Error {
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}
