/** A task whose cost must be linear in the size of its input. */
export interface LinearCase {
  readonly name: string;
  /** The smallest of the three sizes, chosen so that the largest takes at least some tenths of a second. */
  readonly size: number;
  /** Makes an input of a size, and the function to measure. */
  prepare(size: number): Prepared | Promise<Prepared>;
}

/** An input, and the function that reads it. */
export interface Prepared {
  /** Bytes or characters of the input. */
  readonly length: number;
  run(): unknown;
}

/** Joins `count` generated texts. */
export function repeat(count: number, text: (index: number) => string): string {
  const parts: string[] = [];
  for (let index = 0; index < count; index++) parts.push(text(index));
  return parts.join("");
}
