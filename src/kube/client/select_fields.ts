/**
 * Removes fields from the bytes of a JSON text before parsing. Checks read only a fifth of a pod;
 * parsing the rest would take most of the time and memory of a large list.
 */

/** Fields to keep. `true` keeps the whole value. In a list, the fields apply to each item. */
export type Fields = true | { readonly [name: string]: Fields };

/** Fields to keep, indexed by the length of their names for a fast search. */
export type Selection = readonly (readonly Selected[] | undefined)[];

interface Selected {
  readonly name: Uint8Array;
  /** The fields of the value to keep; `undefined` keeps the whole value. */
  readonly fields: Selection | undefined;
}

/** Prepares fields for `selectFields`. */
export function selectionOf(fields: Exclude<Fields, true>): Selection {
  const selection: Selected[][] = [];
  for (const [text, inner] of Object.entries(fields)) {
    const name = new TextEncoder().encode(text);
    (selection[name.length] ??= []).push({ name, fields: inner === true ? undefined : selectionOf(inner) });
  }
  return selection;
}

/**
 * Moves the kept part of a JSON text to the start of the bytes and returns its length. Does not validate the removed
 * part, and removes fields whose name contains an escape. Throws a SyntaxError if the text is truncated or not JSON.
 */
export function selectFields(json: Uint8Array, fields: Selection): number {
  const text = new Text(json);
  text.select(fields);
  // Keeps text after the value, so that parsing fails.
  text.keep(text.at, json.length);
  return text.kept;
}

const [QUOTE, BACKSLASH, COMMA, COLON, SPACE] = [34, 92, 44, 58, 32];
const [OPEN_LIST, CLOSE_LIST, OPEN_MAP, CLOSE_MAP] = [91, 93, 123, 125];
class Text {
  at = 0;
  /** The length of the kept part, at most `at`. */
  kept = 0;
  readonly #json: Uint8Array;

  constructor(json: Uint8Array) {
    this.#json = json;
  }

  /** Reads a value and keeps only the given fields. */
  select(fields: Selection | undefined): void {
    const first = this.#next();
    if (fields !== undefined && first === OPEN_MAP) return this.#selectInMap(fields);
    if (fields !== undefined && first === OPEN_LIST) return this.#selectInList(fields);
    const start = this.at;
    this.#skip();
    this.keep(start, this.at);
  }

  keep(start: number, end: number): void {
    this.#json.copyWithin(this.kept, start, end);
    this.kept += end - start;
  }

  #selectInMap(fields: Selection): void {
    this.#keepByte();
    if (this.#next() === CLOSE_MAP) return this.#keepByte();
    for (let isFirst = true;; this.at++) {
      if (this.#next() !== QUOTE) throw wrong(this.at);
      const start = this.at;
      const end = this.at = endOfString(this.#json, start);
      const field = fields[end - start - 2]?.find(({ name }) => this.#isAt(name, start + 1));
      if (this.#next() !== COLON) throw wrong(this.at);
      this.at++;
      if (field === undefined) {
        this.#next();
        this.#skip();
      } else {
        // Writes a new comma, because the original comma was removed with the previous field.
        if (!isFirst) this.#json[this.kept++] = COMMA;
        isFirst = false;
        this.keep(start, end);
        this.#json[this.kept++] = COLON;
        this.select(field.fields);
      }
      const next = this.#next();
      if (next === CLOSE_MAP) return this.#keepByte();
      if (next !== COMMA) throw wrong(this.at);
    }
  }

  /** Reads a list. Keeps an inner list whole, because Kubernetes types have no lists of lists. */
  #selectInList(fields: Selection): void {
    this.#keepByte();
    if (this.#next() === CLOSE_LIST) return this.#keepByte();
    for (;;) {
      this.select(this.#next() === OPEN_LIST ? undefined : fields);
      const next = this.#next();
      if (next !== COMMA && next !== CLOSE_LIST) throw wrong(this.at);
      this.#keepByte();
      if (next === CLOSE_LIST) return;
    }
  }

  /** Skips white space; returns the next byte. */
  #next(): number | undefined {
    while ((this.#json[this.at] ?? COLON) <= SPACE) this.at++;
    return this.#json[this.at];
  }

  #keepByte(): void {
    this.#json[this.kept++] = this.#json[this.at++] ?? SPACE;
  }

  #isAt(name: Uint8Array, start: number): boolean {
    for (let index = 0; index < name.length; index++) if (name[index] !== this.#json[start + index]) return false;
    return true;
  }

  #skip(): void {
    const first = this.#json[this.at];
    const isNested = first === OPEN_MAP || first === OPEN_LIST;
    const end = first === QUOTE ? endOfString : isNested ? endOfNested : endOfScalar;
    this.at = end(this.#json, this.at);
  }
}

function endOfString(json: Uint8Array, start: number): number {
  const { length } = json;
  for (let at = start + 1; at < length; at++) {
    const byte = json[at];
    if (byte === QUOTE) return at + 1;
    if (byte === BACKSLASH) at++;
  }
  throw wrong(length);
}

function endOfNested(json: Uint8Array, start: number): number {
  const { length } = json;
  for (let at = start, depth = 0; at < length; at++) {
    const byte = json[at];
    if (byte === QUOTE) at = endOfString(json, at) - 1;
    else if (byte === OPEN_MAP || byte === OPEN_LIST) depth++;
    else if ((byte === CLOSE_MAP || byte === CLOSE_LIST) && --depth === 0) return at + 1;
  }
  throw wrong(length);
}

function endOfScalar(json: Uint8Array, start: number): number {
  let at = start;
  while (!isEndOfScalar(json[at] ?? SPACE)) at++;
  return at;
}

function isEndOfScalar(byte: number): boolean {
  return byte === COMMA || byte === CLOSE_MAP || byte === CLOSE_LIST || byte <= SPACE;
}

function wrong(at: number): SyntaxError {
  return new SyntaxError(`The text is not valid JSON at byte ${at}`);
}
