/** Finds the first syntax error of invalid JSON, with the message of Go's encoding/json. */

/** Maximum nesting depth that encoding/json accepts. */
export const MAX_DEPTH = 10_000;

/** The message of Go's scanner at the first invalid character of invalid JSON. */
export function describeSyntaxError(text: string): string {
  const scan = new Scanner(text);
  try {
    scan.skipValue(1);
    scan.expectEnd();
  } catch (error) {
    if (error instanceof ScanError) return error.message;
    throw error;
  }
  return "invalid JSON";
}

class ScanError extends Error {}

/** Scans JSON for its first error, with a method for each context that Go's scanner names. */
class Scanner {
  #at = 0;

  constructor(readonly text: string) {}

  skipValue(depth: number): void {
    if (depth > MAX_DEPTH) throw new ScanError("exceeded max depth");
    const c = this.#next();
    if (c === "{") return this.#skipMap(depth);
    if (c === "[") return this.#skipList(depth);
    if (c === '"') return this.#skipString();
    const word = WORDS[c];
    if (word !== undefined) return this.#skipWord(word);
    this.#skipNumber(c);
  }

  expectEnd(): void {
    this.#skipSpace();
    if (this.#at < this.text.length) this.#fail(this.text.charAt(this.#at), "after top-level value");
  }

  #skipMap(depth: number): void {
    let c = this.#next();
    if (c === "}") return;
    for (;;) {
      if (c !== '"') this.#fail(c, "looking for beginning of object key string");
      this.#skipString();
      c = this.#next();
      if (c !== ":") this.#fail(c, "after object key");
      this.skipValue(depth + 1);
      c = this.#next();
      if (c === "}") return;
      if (c !== ",") this.#fail(c, "after object key:value pair");
      c = this.#next();
    }
  }

  #skipList(depth: number): void {
    this.#skipSpace();
    if (this.text[this.#at] === "]") {
      this.#at++;
      return;
    }
    for (;;) {
      this.skipValue(depth + 1);
      const c = this.#next();
      if (c === "]") return;
      if (c !== ",") this.#fail(c, "after array element");
    }
  }

  #skipString(): void {
    for (;;) {
      const c = this.#inside();
      if (c === '"') return;
      if (c < " ") this.#fail(c, "in string literal");
      if (c === "\\") this.#skipEscape();
    }
  }

  #skipEscape(): void {
    const c = this.#raw();
    if (c !== "u") {
      if (!'bfnrt\\/"'.includes(c)) this.#fail(c, "in string escape code");
      return;
    }
    for (let i = 0; i < 4; i++) {
      const digit = this.#raw();
      if (!/[0-9a-fA-F]/.test(digit)) this.#fail(digit, "in \\u hexadecimal character escape");
    }
  }

  #skipWord(word: string): void {
    for (const expected of word.slice(1)) {
      const c = this.#raw();
      if (c !== expected) this.#fail(c, `in literal ${word} (expecting '${expected}')`);
    }
  }

  #skipNumber(first: string): void {
    let c = first;
    if (c === "-") {
      c = this.#raw();
      if (!isDigit(c)) this.#fail(c, "in numeric literal");
    }
    if (!isDigit(c)) this.#fail(c, "looking for beginning of value");
    if (c !== "0") this.#skipDigits();
    if (this.text[this.#at] === ".") this.#skipPart("after decimal point in numeric literal");
    if (/^[eE]/.test(this.text.slice(this.#at, this.#at + 1))) {
      if (/^[+-]/.test(this.text.slice(this.#at + 1, this.#at + 2))) this.#at++;
      this.#skipPart("in exponent of numeric literal");
    }
  }

  #skipPart(context: string): void {
    this.#at++;
    const c = this.#raw();
    if (!isDigit(c)) this.#fail(c, context);
    this.#skipDigits();
  }

  #skipDigits(): void {
    while (isDigit(this.text.charAt(this.#at))) this.#at++;
  }

  #skipSpace(): void {
    while (/^[ \t\r\n]/.test(this.text.charAt(this.#at))) this.#at++;
  }

  #next(): string {
    this.#skipSpace();
    return this.#inside();
  }

  /** The next character, inside a string or at the start of a value: the end of the text is an error. */
  #inside(): string {
    if (this.#at >= this.text.length) throw new ScanError("unexpected end of JSON input");
    return this.#raw();
  }

  /** The next character of a literal, number or escape: the end of the text counts as a space, as in Go. */
  #raw(): string {
    return this.text.charAt(this.#at++) || " ";
  }

  #fail(c: string, context: string): never {
    throw new ScanError(`invalid character ${quoteCharacter(c)} ${context}`);
  }
}

const WORDS: Readonly<Record<string, string>> = { t: "true", f: "false", n: "null" };

function isDigit(c: string): boolean {
  return c >= "0" && c <= "9";
}

function quoteCharacter(c: string): string {
  if (c === "'") return `'\\''`;
  if (c === '"') return `'"'`;
  return `'${JSON.stringify(c).slice(1, -1).replace(/^\\u00/, "\\x")}'`;
}
