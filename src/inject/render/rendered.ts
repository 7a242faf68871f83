/**
 * Parses rendered templates. Most of the text is the same for all pods, so the reader splits it by indentation and parses
 * each distinct part once.
 */
import { MeshError, messageOf } from "../../base/errors.ts";
import { share } from "../../base/values/mod.ts";
import { isList, isMap, newMap, type Value, type ValueMap } from "../../base/value.ts";
import { parseCommon, parseYaml } from "../../yaml/mod.ts";

/** Matches YAML syntax that prevents splitting: anchors, aliases, tags, merge keys, document markers, directives, tabs. */
const TIED = /(?:^|[\s:,[{-])[&*!]|<<|^(?:---|\.\.\.|%)|\t|\r/m;

/** Length in characters below which a part is not split further. */
const SMALL = 160;
const MAX_PARTS = 2048;

/** Parses rendered texts. Do not change the results: they share values. */
export class RenderedReader {
  readonly #parts = new Map<string, Value>();
  #isFirst = true;

  /** Parses a rendered text. Errors: see `parseYaml`; positions in errors refer to the whole text. */
  read(text: string): Value {
    if (this.#isFirst) {
      // Splitting is worthwhile only from the second pod on.
      this.#isFirst = false;
      return parseWhole(text);
    }
    try {
      return this.#part(text);
    } catch {
      // The text cannot be split, or a part is invalid. Parse the whole text, which also gives the right error.
      return parseYaml(text, "");
    }
  }

  #part(text: string): Value {
    const known = this.#parts.get(text);
    if (known !== undefined) return known;
    const value = text.length < SMALL ? parsePart(text) : this.#assembled(text) ?? parsePart(text);
    return this.#remembered(text, value);
  }

  #remembered(text: string, value: Value): Value {
    if (this.#parts.size >= MAX_PARTS) this.#parts.clear();
    this.#parts.set(text, value);
    share(value);
    return value;
  }

  /** Parses a text part by part; `undefined` if the text cannot be split. */
  #assembled(text: string): Value | undefined {
    const parts = split(text);
    return parts === undefined ? undefined : parts.list ? this.#list(parts.texts) : this.#map(parts.texts);
  }

  #list(texts: readonly string[]): Value | undefined {
    const items: Value[] = [];
    for (const text of texts) {
      const inner = text.replace("- ", "  ");
      const item = ENTRY.test(inner) ? [this.#part(inner)] : this.#small(text);
      if (!isList(item)) return undefined;
      items.push(...item);
    }
    return items;
  }

  /** Parses the entries of a mapping. The lines below a key form a separate part. */
  #map(texts: readonly string[]): Value | undefined {
    const map = newMap();
    for (const text of texts) {
      const entry = this.#entry(text);
      if (entry === undefined) return undefined;
      Object.assign(map, entry);
    }
    return map;
  }

  #entry(text: string): ValueMap | undefined {
    const head = /^ *([A-Za-z][\w./-]*):[ ]*\n/.exec(text);
    const key = head?.[1];
    if (head === null || key === undefined || RESERVED.test(key)) {
      const whole = this.#small(text);
      return isMap(whole) ? whole : undefined;
    }
    const entry = newMap();
    entry[key] = this.#part(text.slice(head[0].length));
    return entry;
  }

  #small(text: string): Value {
    const known = this.#parts.get(text);
    if (known !== undefined) return known;
    return this.#remembered(text, parsePart(text));
  }
}

/** Describes the problem of a rendered text. Quotes the line, because the user cannot see the rendered text. */
export function renderedProblem(text: string, error: unknown): string {
  const message = messageOf(error).replace(/^Cannot read the YAML: /, "");
  const line = error instanceof MeshError ? error.place?.line : undefined;
  return line === undefined ? message : `${message}, in line ${line}: "${(text.split("\n")[line - 1] ?? "").trim()}"`;
}

/** Keys that YAML 1.1 does not read as strings. */
const RESERVED = /^(?:y|yes|n|no|on|off|true|false|null)$/i;

/** Parses one part. Throws if the part may refer to other parts. */
function parsePart(text: string): Value {
  if (TIED.test(text)) throw new TypeError("the text cannot be split");
  return parseWhole(text);
}

function parseWhole(text: string): Value {
  return parseCommon(text) ?? parseYaml(text, "");
}

interface Parts {
  readonly list: boolean;
  readonly texts: readonly string[];
}

/** Splits a text into list items or map entries at its first indentation; `undefined` if the text is neither. */
function split(text: string): Parts | undefined {
  const first = nextLine(text, 0);
  if (first === undefined) return undefined;
  const list = startsItem(text, first.content);
  const starts: number[] = [];
  for (let line: Line | undefined = first; line !== undefined; line = nextLine(text, line.end)) {
    const item = startsItem(text, line.content);
    // A list may start in the same column as its key.
    if (line.indent > first.indent || (line.indent === first.indent && item && !list)) continue;
    if (line.indent < first.indent || (list ? !item : !ENTRY.test(text.slice(line.content, line.end)))) {
      return undefined;
    }
    starts.push(line.content - line.indent);
  }
  return { list, texts: starts.map((start, index) => text.slice(start, starts[index + 1] ?? text.length)) };
}

interface Line {
  readonly indent: number;
  /** Offset of the first character after the indentation. */
  readonly content: number;
  readonly end: number;
}

const SPACE = 32;
const LINE_FEED = 10;
const HASH = 35;
const DASH = 45;

/** Finds the next line with content, skipping blank lines and comments. */
function nextLine(text: string, from: number): Line | undefined {
  let start = from;
  while (start < text.length) {
    let content = start;
    while (text.charCodeAt(content) === SPACE) content++;
    const feed = text.indexOf("\n", content);
    const end = feed < 0 ? text.length : feed + 1;
    const character = text.charCodeAt(content);
    if (content < text.length && character !== LINE_FEED && character !== HASH) {
      return { indent: content - start, content, end };
    }
    start = end;
  }
  return undefined;
}

function startsItem(text: string, at: number): boolean {
  return text.charCodeAt(at) === DASH && text.charCodeAt(at + 1) === SPACE;
}

const ENTRY = /^ *[A-Za-z"'][^\n]*?:(?: |\n|$)/;
