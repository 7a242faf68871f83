const ASCII = 128;

/** A set of characters. JavaScript's engine knows what is in it (case, scripts); ASCII is asked once. */
export class CharacterSet {
  readonly #one: RegExp;
  readonly #ascii: (boolean | undefined)[] = new Array(ASCII);

  /** `source`: of one character, for the flag `u`. */
  constructor(source: string) {
    this.#one = new RegExp(`^(?:${source})$`, "u");
  }

  /** Whether the character of this code point is in it. */
  has(code: number): boolean {
    return code < ASCII ? this.#ascii[code] ??= this.#asks(code) : this.#asks(code);
  }

  #asks(code: number): boolean {
    return this.#one.test(String.fromCodePoint(code));
  }
}
