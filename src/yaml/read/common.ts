/**
 * A fast reader of common YAML: block maps and lists, plain and simply quoted scalars, literal blocks, flow collections
 * without comments. It reads each line once. js-yaml takes many times as long, mostly to support rare syntax.
 */
import { newMap, type Value } from "../../base/value.ts";
import { type Composition, type DuplicateKey, inOrder } from "./compose.ts";
import { readLiteral } from "./literal.ts";
import type { ListNode, MapEntry, MapNode, ScalarNode, ScalarStyle, YamlNode } from "../node.ts";
import { resolvePlain } from "./resolve.ts";
import { plainEnd, quotedEnd } from "./scalar_end.ts";

/**
 * Characters that only js-yaml handles: tabs, other line breaks, unprintable characters, lone surrogates, document
 * markers.
 */
const UNUSUAL = /\n(?:\.\.\.|---)|[^\n -~\u00a0-\u1fff\u2010-\u2027\u2030-\ud7ff]/;
const MAX_DEPTH = 60;

const REST_OF_LINE = /(?: +#[^\n]*| *)\n/y;
const KEY = /(?:[A-Za-z_][\w./-]{0,200}|"[^"\\\n]{0,200}"|'[^'\n]{0,200}'):(?: +|(?=\n))/y;
const FLOW_KEY = /(?:[A-Za-z_][\w./-]{0,200}: +|(?:"[^"\\\n]{0,200}"|'[^'\n]{0,200}'): *)/y;

const GAP = /[ \n]*/y;
const FLOW_START = /[[{]/;

const DASH = 45;
const SPACE = 32;
const LINE_FEED = 10;
const HASH = 35;

/**
 * Returns the same as `compose` for a text that ends with a line break; `undefined` for uncommon text, valid or
 * not.
 */
export function composeCommon(text: string): Composition | undefined {
  if (UNUSUAL.test(text)) return undefined;
  const reader = new CommonReader(text, false);
  const root = reader.document();
  if (root === undefined) return undefined;
  return { root, duplicates: inOrder(reader.duplicates), hasAliases: false, isJoined: false, hasMore: false };
}

/**
 * The value of a common text; `undefined` for uncommon text and for text without content. As in kubectl, and unlike in
 * `composeCommon`, indentation inside flow collections is ignored.
 */
export function parseCommon(text: string): Value | undefined {
  const whole = text.endsWith("\n") ? text : `${text}\n`;
  return UNUSUAL.test(whole) ? undefined : new CommonReader(whole, true).document()?.value;
}

class CommonReader {
  readonly duplicates: DuplicateKey[] = [];
  /** The first character of the next line with content, or the end of the text. */
  #at = 0;
  /** The column of that character; -1 at the end. */
  #column = -1;
  /** The end of the last token. */
  #end = 0;
  #depth = 0;
  /** Lines of the current flow collection must be indented more than this. */
  #flowColumn = -1;

  constructor(readonly text: string, readonly looseFlow: boolean) {}

  document(): YamlNode | undefined {
    this.#passBlanks(0);
    if (this.#column < 0) return undefined;
    const root = FLOW_START.test(this.text.charAt(this.#at)) ? this.#scalar(this.#at, -1) : this.#block(-1);
    return this.#column < 0 ? root : undefined;
  }

  /**
   * Skips the rest of the line if it is blank or a comment, further blank lines and comments, and the indentation of
   * the next line.
   */
  #passBlanks(from: number): void {
    let at = this.#spaces(from);
    for (let line = at; this.#endsLine(at); at = this.#spaces(line)) line = this.text.indexOf("\n", at) + 1;
    this.#at = at;
    this.#column = at === this.text.length ? -1 : at - this.text.lastIndexOf("\n", at - 1) - 1;
  }

  #isDash(at: number): boolean {
    if (this.text.charCodeAt(at) !== DASH) return false;
    const next = this.text.charCodeAt(at + 1);
    return next === SPACE || next === LINE_FEED;
  }

  /** Whether the rest of the line is empty or a comment. */
  #endsLine(at: number): boolean {
    const code = this.text.charCodeAt(at);
    return code === LINE_FEED || code === HASH;
  }

  #spaces(from: number): number {
    let at = from;
    while (this.text.charCodeAt(at) === SPACE) at++;
    return at;
  }

  /**
   * The offset of the next token of a flow collection; the end of the text if the token's line is not indented enough.
   */
  #gap(from: number): number {
    const at = this.#spaces(from);
    if (this.text.charCodeAt(at) !== LINE_FEED) return at;
    GAP.lastIndex = at;
    GAP.test(this.text);
    const next = GAP.lastIndex;
    const column = next - this.text.lastIndexOf("\n", next - 1) - 1;
    return this.looseFlow || column > this.#flowColumn ? next : this.text.length;
  }

  /** Reads a list, map or scalar below its key or dash at `column`. */
  #block(column: number): YamlNode | undefined {
    if (this.#isDash(this.#at)) return this.#deeper(() => this.#list());
    if (this.#isKey(this.#at)) return this.#deeper(() => this.#map());
    return column < 0 ? undefined : this.#scalar(this.#at, column);
  }

  /** Reads one level deeper. The depth is limited, so that a text cannot exhaust the stack. */
  #deeper<T>(read: () => T): T | undefined {
    if (this.#depth === MAX_DEPTH) return undefined;
    this.#depth++;
    const node = read();
    this.#depth--;
    return node;
  }

  #list(): ListNode | undefined {
    const column = this.#column;
    const start = this.#at;
    const items: YamlNode[] = [];
    do {
      const item = this.#item(column);
      if (item === undefined) return undefined;
      items.push(item);
    } while (this.#column === column && this.#isDash(this.#at));
    // Deeper content after an item is an error, or continues a scalar of several lines.
    return this.#column > column ? undefined : this.#listNode(start, false, items);
  }

  #item(column: number): YamlNode | undefined {
    const dash = this.#at;
    this.#end = dash + 1;
    const at = this.#spaces(dash + 1);
    if (this.#endsLine(at)) {
      this.#passBlanks(at);
      return this.#column > column ? this.#block(column) : this.#empty(dash + 1);
    }
    if (!this.#isDash(at) && !this.#isKey(at)) return this.#scalar(at, column);
    this.#at = at;
    this.#column += at - dash;
    return this.#block(column);
  }

  #isKey(at: number): boolean {
    KEY.lastIndex = at;
    return KEY.test(this.text);
  }

  #map(): MapNode | undefined {
    const column = this.#column;
    const start = this.#at;
    const entries: MapEntry[] = [];
    do {
      if (!this.#isKey(this.#at)) return undefined;
      const entry = this.#entry(KEY.lastIndex, column);
      if (entry === undefined) return undefined;
      entries.push(entry);
    } while (this.#column === column);
    return this.#column > column ? undefined : this.#mapNode(start, false, entries);
  }

  /** A list that ends with the last token. */
  #listNode(start: number, flow: boolean, items: readonly YamlNode[]): ListNode {
    const size = items.reduce((sum, item) => sum + item.size, 1);
    const value = items.map((item) => item.value);
    return { kind: "list", outer: start, start, anchor: undefined, flow, end: this.#end, size, items, value };
  }

  /** A map that ends with the last token. */
  #mapNode(start: number, flow: boolean, entries: readonly MapEntry[]): MapNode {
    const value = newMap();
    let size = 1;
    for (const { key = "", keyNode, node } of entries) {
      if (key in value) this.duplicates.push({ key, offset: keyNode.start });
      value[key] = node.value;
      size += node.size + 1;
    }
    return { kind: "map", outer: start, start, anchor: undefined, flow, end: this.#end, size, entries, value };
  }

  #entry(at: number, column: number): MapEntry | undefined {
    const keyNode = this.#key(this.#at);
    if (keyNode === undefined) return undefined;
    const node = this.#endsLine(at) ? this.#below(at, keyNode.end + 1, column) : this.#scalar(at, column);
    return node === undefined ? undefined : { key: String(keyNode.value), keyNode, node };
  }

  #key(start: number): ScalarNode | undefined {
    const mark = this.text.charAt(start);
    if (mark === '"' || mark === "'") return this.#quoted(start);
    const end = this.text.indexOf(":", start);
    const value = resolvePlain(this.text.slice(start, end));
    this.#end = end;
    // Keys that are not strings are left to `compose`.
    return typeof value === "string" ? scalar("plain", start, end, value) : undefined;
  }

  /** Reads the value below a key whose line ends after the colon. */
  #below(at: number, afterColon: number, column: number): YamlNode | undefined {
    this.#passBlanks(at);
    const listAtKey = this.#column === column && this.#isDash(this.#at);
    return this.#column > column || listAtKey ? this.#block(column) : this.#empty(afterColon);
  }

  /** An absent value after the `:` or `-`. */
  #empty(at: number): ScalarNode {
    this.#end = at;
    return scalar("empty", at, at, null);
  }

  /** Reads the value in the rest of a line. A literal block continues below the line. */
  #scalar(at: number, column: number): YamlNode | undefined {
    if (this.text.charAt(at) === "|") return this.#literal(at, column);
    this.#flowColumn = column;
    const node = this.#inline(at, false);
    if (node === undefined) return undefined;
    REST_OF_LINE.lastIndex = this.#end;
    if (!REST_OF_LINE.test(this.text)) return undefined;
    this.#passBlanks(REST_OF_LINE.lastIndex);
    return this.#column > column ? undefined : node;
  }

  #literal(at: number, column: number): YamlNode | undefined {
    const literal = readLiteral(this.text, at, column);
    if (literal === undefined) return undefined;
    this.#end = literal.end;
    this.#passBlanks(literal.end);
    if (this.#column > column) return undefined;
    return { ...scalar("literal", at, literal.end, literal.value), keeps: literal.keeps };
  }

  #inline(at: number, inFlow: boolean): YamlNode | undefined {
    switch (this.text.charAt(at)) {
      case "{":
      case "[":
        return this.#flow(at);
      case '"':
      case "'":
        return this.#quoted(at);
      default:
        return this.#plain(at, inFlow);
    }
  }

  #quoted(at: number): ScalarNode | undefined {
    const end = quotedEnd(this.text, at);
    if (end === undefined) return undefined;
    this.#end = end;
    return this.text.charAt(at) === '"'
      ? scalar("double", at, end, unescaped(this.text.slice(at, end)))
      : scalar("single", at, end, this.text.slice(at + 1, end - 1).replaceAll("''", "'"));
  }

  #plain(at: number, inFlow: boolean): ScalarNode | undefined {
    const end = plainEnd(this.text, at, inFlow);
    if (end === undefined) return undefined;
    const text = this.text.slice(at, end).trimEnd();
    const value = resolvePlain(text);
    if (typeof value === "number" && !Number.isFinite(value)) return undefined;
    this.#end = at + text.length;
    return scalar("plain", at, this.#end, value);
  }

  #flow(start: number): ListNode | MapNode | undefined {
    return this.#deeper(() => {
      if (this.text.charAt(start) === "[") {
        const items = this.#flowItems(start, "]", (at) => this.#inline(at, true));
        return items && this.#listNode(start, true, items);
      }
      const entries = this.#flowItems(start, "}", (at) => this.#flowEntry(at));
      return entries && this.#mapNode(start, true, entries);
    });
  }

  /** Reads items between brackets; `undefined` if the text is uncommon. */
  #flowItems<Item>(start: number, close: string, read: (at: number) => Item | undefined): Item[] | undefined {
    const items: Item[] = [];
    let at = this.#gap(start + 1);
    while (this.text.charAt(at) !== close) {
      const item = read(at);
      if (item === undefined) return undefined;
      items.push(item);
      at = this.#gap(this.#end);
      // A comma may follow the last item.
      if (this.text.charAt(at) === ",") at = this.#gap(at + 1);
      else if (this.text.charAt(at) !== close) return undefined;
    }
    this.#end = at + 1;
    return items;
  }

  #flowEntry(at: number): MapEntry | undefined {
    FLOW_KEY.lastIndex = at;
    if (!FLOW_KEY.test(this.text)) return undefined;
    const after = FLOW_KEY.lastIndex;
    const keyNode = this.#key(at);
    const node = keyNode === undefined ? undefined : this.#inline(after, true);
    return keyNode === undefined || node === undefined ? undefined : { key: String(keyNode.value), keyNode, node };
  }
}

function unescaped(quoted: string): string {
  return quoted.includes("\\") ? String(JSON.parse(quoted)) : quoted.slice(1, -1);
}

function scalar(style: ScalarStyle, start: number, end: number, value: Value): ScalarNode {
  return { kind: "scalar", outer: start, start, end, anchor: undefined, size: 1, style, keeps: false, value };
}
