import { quote } from "../fmt/quote.ts";
import { sprintf } from "../fmt/printf.ts";
import { isAlphanumeric } from "../unicode.ts";
import { isKeyword, type Token, type TokenType } from "./token.ts";

/** The delimiters of actions, and the keywords that are functions of the caller instead. */
export interface LexOptions {
  readonly left: string;
  readonly right: string;
  readonly breakIsFunction?: boolean;
  readonly continueIsFunction?: boolean;
}

/** Sets of ASCII characters, looked up by code. */
const spaces = asciiSet(" \t\r\n");
const terminators = asciiSet(" \t\r\n.,|:)(");
const asciiWord = /[A-Za-z0-9_]*/y;
/** Constants without escapes, as most are. */
const simpleString = /"[^"\\\n]*"/y;
const simpleCharacter = /'[^'\\\n]*'/y;

/**
 * Splits a template into tokens, one at a time. White space in actions is no token but a mark on the next one. After an
 * `error` token there is nothing but `eof`. A configuration has ten thousand tokens, and most of them are read by code
 * that has not run before: few calls for each matter more than elsewhere.
 */
export class Lexer {
  #pos = 0;
  #start = 0;
  #line = 1;
  /** The end of that line: lines are counted as they are passed. */
  #nextBreak: number;
  #inside = false;
  #spaced = false;
  readonly #rightStart: number;
  #parens = 0;
  #failed = false;

  constructor(readonly input: string, readonly options: LexOptions) {
    this.#nextBreak = this.#breakAfter(0);
    this.#rightStart = options.right.charCodeAt(0);
  }

  #breakAfter(offset: number): number {
    const at = this.input.indexOf("\n", offset);
    return at < 0 ? this.input.length : at;
  }

  /** The next token. */
  next(): Token {
    if (this.#failed) return { type: "eof", text: "EOF", pos: 0, line: this.#line, spaced: false };
    return this.#inside ? this.#insideAction() : this.#text();
  }

  #token(type: TokenType): Token {
    const text = this.input.slice(this.#start, this.#pos);
    const token = { type, text, pos: this.#start, line: this.#line, spaced: this.#spaced };
    this.#skip();
    return token;
  }

  /** Skips the text up to here and counts its lines. */
  #skip(): void {
    this.#start = this.#pos;
    this.#spaced = false;
    while (this.#nextBreak < this.#pos) {
      this.#line++;
      this.#nextBreak = this.#breakAfter(this.#nextBreak + 1);
    }
  }

  #error(message: string): Token {
    this.#failed = true;
    return { type: "error", text: message, pos: this.#start, line: this.#line, spaced: this.#spaced };
  }

  #at(text: string, offset = 0): boolean {
    return this.input.startsWith(text, this.#pos + offset);
  }

  #isSpace(offset: number): boolean {
    return spaces[this.input.charCodeAt(offset)] === 1;
  }

  /** Text up to the next action, trimmed at the end if the action says so. Comments are skipped. */
  #text(): Token {
    for (;;) {
      const delim = this.input.indexOf(this.options.left, this.#pos);
      if (delim < 0) return this.#rest();
      const trims = this.#trimsLeft(delim + this.options.left.length);
      this.#pos = trims ? this.#trimmedEnd(delim) : delim;
      const token = this.#pos > this.#start ? this.#token("text") : undefined;
      this.#pos = delim;
      this.#skip();
      if (token !== undefined) return token;
      const next = this.#leftDelim(trims);
      if (next !== undefined) return next;
    }
  }

  #rest(): Token {
    this.#pos = this.input.length;
    return this.#token(this.#pos > this.#start ? "text" : "eof");
  }

  #trimsLeft(offset: number): boolean {
    return this.input.charAt(offset) === "-" && this.#isSpace(offset + 1);
  }

  #trimmedEnd(end: number): number {
    let at = end;
    while (at > this.#start && this.#isSpace(at - 1)) at--;
    return at;
  }

  /** The left delimiter; `undefined` if it opened a comment, which is skipped. */
  #leftDelim(trims: boolean): Token | undefined {
    this.#pos += this.options.left.length;
    const marker = trims ? 2 : 0;
    if (this.#at("/*", marker)) {
      this.#pos += marker;
      this.#skip();
      return this.#comment();
    }
    const token = this.#token("leftDelim");
    this.#inside = true;
    this.#parens = 0;
    this.#pos += marker;
    this.#skip();
    return token;
  }

  #comment(): Token | undefined {
    const end = this.input.indexOf("*/", this.#pos + 2);
    if (end < 0) return this.#error("unclosed comment");
    this.#pos = end + 2;
    const marker = this.#rightMarker();
    if (marker < 0) return this.#error("comment ends before closing delimiter");
    this.#pos += marker + this.options.right.length;
    if (marker > 0) this.#passSpaces();
    this.#skip();
    return undefined;
  }

  /** The length of the trim marker before a right delimiter at this position: 0 or 2; -1 without a right delimiter. */
  #rightMarker(): number {
    if (this.#isSpace(this.#pos) && this.#at("-", 1) && this.#at(this.options.right, 2)) return 2;
    return this.#at(this.options.right) ? 0 : -1;
  }

  #passSpaces(): void {
    while (this.#isSpace(this.#pos)) this.#pos++;
  }

  #rightDelim(marker: 0 | 2): Token {
    if (this.#parens > 0) return this.#error("unclosed left paren");
    this.#pos += marker;
    this.#skip();
    this.#pos += this.options.right.length;
    const token = this.#token("rightDelim");
    if (marker > 0) this.#passSpaces();
    this.#skip();
    this.#inside = false;
    return token;
  }

  #atRightDelim(code: number): boolean {
    return code === this.#rightStart && this.#at(this.options.right);
  }

  #insideAction(): Token {
    if (this.#isSpace(this.#pos)) {
      this.#passSpaces();
      if (this.#at("-") && this.#at(this.options.right, 1)) {
        this.#pos--;
        this.#skip();
        return this.#rightDelim(2);
      }
      this.#skip();
      this.#spaced = true;
    }
    const code = this.input.charCodeAt(this.#pos);
    if (this.#atRightDelim(code)) return this.#rightDelim(0);
    return isAsciiLetter(code) ? this.#identifier() : this.#marked(code);
  }

  /** A token that its first character determines. */
  #marked(code: number): Token {
    const character = this.input.charAt(this.#pos);
    switch (character) {
      case ".":
        return isDigit(this.input.charCodeAt(this.#pos + 1)) ? this.#number() : this.#name("field");
      case "$":
        return this.#name("variable");
      case '"':
        return this.#quoted(character, "string", "unterminated quoted string");
      case "(":
      case ")":
        return this.#paren(character);
      case "|":
        return this.#single("pipe");
      case ":":
        return this.#declare();
      default:
        return isDigit(code) ? this.#number() : this.#rare(character);
    }
  }

  #rare(character: string): Token {
    switch (character) {
      case "=":
        return this.#single("assign");
      case "'":
        return this.#quoted(character, "charConstant", "unterminated character constant");
      case "`":
        return this.#rawQuoted();
      case "+":
      case "-":
        return this.#number();
      case "":
        return this.#error("unclosed action");
      default:
        return this.#other();
    }
  }

  #declare(): Token {
    this.#pos++;
    return this.#at("=") ? this.#single("declare") : this.#error("expected :=");
  }

  #single(type: TokenType): Token {
    this.#pos++;
    return this.#token(type);
  }

  #other(): Token {
    const code = this.input.codePointAt(this.#pos) ?? 0;
    return isAlphanumeric(code) ? this.#identifier() : this.#char(code);
  }

  #char(code: number): Token {
    if (code < 0x20 || code >= 0x7f) return this.#error(`unrecognized character in action: ${unicodeName(code)}`);
    this.#pos++;
    return this.#token("char");
  }

  #paren(character: string): Token {
    this.#pos++;
    this.#parens += character === "(" ? 1 : -1;
    if (this.#parens < 0) return this.#error("unexpected right paren");
    return this.#token(character === "(" ? "leftParen" : "rightParen");
  }

  #quoted(mark: string, type: TokenType, message: string): Token {
    const simple = mark === '"' ? simpleString : simpleCharacter;
    simple.lastIndex = this.#pos;
    if (simple.test(this.input)) {
      this.#pos = simple.lastIndex;
      return this.#token(type);
    }
    for (let at = this.#pos + 1; at < this.input.length; at++) {
      const character = this.input.charAt(at);
      if (character === mark) {
        this.#pos = at + 1;
        return this.#token(type);
      }
      if (character === "\\") at++;
      if (this.input.charAt(at) === "\n") break;
    }
    return this.#error(message);
  }

  #rawQuoted(): Token {
    const end = this.input.indexOf("`", this.#pos + 1);
    if (end < 0) return this.#error("unterminated raw quoted string");
    this.#pos = end + 1;
    return this.#token("rawString");
  }

  #passAlphanumerics(): void {
    for (;;) {
      asciiWord.lastIndex = this.#pos;
      asciiWord.test(this.input);
      this.#pos = asciiWord.lastIndex;
      if (!(this.input.charCodeAt(this.#pos) >= 0x80)) return;
      const code = this.input.codePointAt(this.#pos) ?? 0;
      if (!isAlphanumeric(code)) return;
      this.#pos += code > 0xffff ? 2 : 1;
    }
  }

  /** `.name`, `.`, `$name` or `$`. */
  #name(type: "field" | "variable"): Token {
    this.#pos++;
    if (this.#atTerminator()) return this.#token(type === "field" ? "dot" : type);
    this.#passAlphanumerics();
    return this.#atTerminator() ? this.#token(type) : this.#badCharacter();
  }

  #identifier(): Token {
    this.#passAlphanumerics();
    if (!this.#atTerminator()) return this.#badCharacter();
    const word = this.input.slice(this.#start, this.#pos);
    if (word === "true" || word === "false") return this.#token("bool");
    return this.#token(isKeyword(word) && !this.#isFunction(word) ? word : "identifier");
  }

  #isFunction(word: string): boolean {
    return word === "break"
      ? this.options.breakIsFunction === true
      : word === "continue" && this.options.continueIsFunction === true;
  }

  #badCharacter(): Token {
    return this.#error(`bad character ${unicodeName(this.input.codePointAt(this.#pos) ?? 0)}`);
  }

  /** Whether a name may end here: the next character must not look like a part of it. */
  #atTerminator(): boolean {
    const code = this.input.charCodeAt(this.#pos);
    return terminators[code] === 1 || this.#atRightDelim(code) || Number.isNaN(code);
  }

  #number(): Token {
    if (!this.#scanNumber()) return this.#badNumber();
    if (!this.#at("+") && !this.#at("-")) return this.#token("number");
    if (!this.#scanNumber() || this.input.charAt(this.#pos - 1) !== "i") return this.#badNumber();
    return this.#token("complex");
  }

  #badNumber(): Token {
    return this.#error(`bad number syntax: ${quote(this.input.slice(this.#start, this.#pos))}`);
  }

  /** Skips what looks like a number; false (one character later) if a letter follows. */
  #scanNumber(): boolean {
    const form =
      /[+-]?(?:0[xX][0-9a-fA-F_]*(?:\.[0-9a-fA-F_]*)?(?:[pP][+-]?[0-9_]*)?|0[oO][0-7_]*(?:\.[0-7_]*)?|0[bB][01_]*(?:\.[01_]*)?|[0-9_]*(?:\.[0-9_]*)?(?:[eE][+-]?[0-9_]*)?)i?/y;
    form.lastIndex = this.#pos;
    this.#pos += form.exec(this.input)?.[0].length ?? 0;
    const code = this.input.codePointAt(this.#pos);
    if (code === undefined || !isAlphanumeric(code)) return true;
    this.#pos += code > 0xffff ? 2 : 1;
    return false;
  }
}

function isAsciiLetter(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a) || code === 0x5f;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

function asciiSet(characters: string): Uint8Array {
  const set = new Uint8Array(128);
  for (const character of characters) set[character.charCodeAt(0)] = 1;
  return set;
}

function unicodeName(code: number): string {
  return sprintf("%#U", [BigInt(code)]);
}
