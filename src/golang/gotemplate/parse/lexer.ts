import { quote } from "../fmt/quote.ts";
import { sprintf } from "../fmt/printf.ts";
import { isAlphanumeric } from "../unicode.ts";
import { isKeyword, type Token, type TokenType } from "./token.ts";

/**
 * The delimiters of actions, and a test for function names: `break` and `continue` can be functions instead of
 * keywords.
 */
export interface LexOptions {
  readonly left: string;
  readonly right: string;
  readonly isFunction: (name: string) => boolean;
}

const SPACES = " \t\r\n";
/** Characters that may follow a name. */
const TERMINATORS = " \t\r\n.,|:)(";
const SINGLES: Readonly<Record<string, TokenType>> = { "|": "pipe", "=": "assign" };
/** Quotes, with the error for a missing closing quote. */
const QUOTED: Readonly<Record<string, readonly [TokenType, string]>> = {
  '"': ["string", "unterminated quoted string"],
  "'": ["charConstant", "unterminated character constant"],
};
const NUMBER_START = /^(?:[-+\d]|\.\d)/;
const WORD = /[\p{L}\p{Nd}_]*/uy;

/**
 * Splits a template into tokens, one at a time. White space in actions is not a token; it marks the next token. After
 * an `error` token, all tokens are `eof`.
 */
export class Lexer {
  #pos = 0;
  #start = 0;
  #inside = false;
  #spaced = false;
  #parens = 0;
  #failed = false;

  constructor(readonly input: string, readonly options: LexOptions) {}

  /** Reads the next token. */
  next(): Token {
    if (this.#failed) return { type: "eof", text: "EOF", pos: this.#start, spaced: false };
    return this.#inside ? this.#insideAction() : this.#text();
  }

  #token(type: TokenType): Token {
    const text = this.input.slice(this.#start, this.#pos);
    const token = { type, text, pos: this.#start, spaced: this.#spaced };
    this.#skip();
    return token;
  }

  /** Starts a new token at the current position. */
  #skip(): void {
    this.#start = this.#pos;
    this.#spaced = false;
  }

  #error(message: string): Token {
    this.#failed = true;
    return { type: "error", text: message, pos: this.#start, spaced: this.#spaced };
  }

  #at(text: string, offset = 0): boolean {
    return this.input.startsWith(text, this.#pos + offset);
  }

  #isSpace(offset: number): boolean {
    return offset < this.input.length && SPACES.includes(this.input.charAt(offset));
  }

  /** Reads text up to the next action, trimmed at the end if the action starts with `{{-`. Skips comments. */
  #text(): Token {
    for (;;) {
      const delim = this.input.indexOf(this.options.left, this.#pos);
      if (delim < 0) {
        this.#pos = this.input.length;
        return this.#token(this.#pos > this.#start ? "text" : "eof");
      }
      const trims = this.#trimsAt(delim + this.options.left.length);
      this.#pos = delim;
      while (trims && this.#pos > this.#start && this.#isSpace(this.#pos - 1)) this.#pos--;
      const token = this.#pos > this.#start ? this.#token("text") : undefined;
      this.#pos = delim;
      this.#skip();
      const next = token ?? this.#leftDelim(trims);
      if (next !== undefined) return next;
    }
  }

  #trimsAt(offset: number): boolean {
    return this.input.charAt(offset) === "-" && this.#isSpace(offset + 1);
  }

  /** Reads the left delimiter. If the delimiter opens a comment, skips the comment and returns `undefined`. */
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
    const trims = this.#isSpace(this.#pos) && this.#at("-", 1) && this.#at(this.options.right, 2);
    if (!trims && !this.#at(this.options.right)) return this.#error("comment ends before closing delimiter");
    this.#pos += (trims ? 2 : 0) + this.options.right.length;
    if (trims) this.#passSpaces();
    this.#skip();
    return undefined;
  }

  #passSpaces(): void {
    while (this.#isSpace(this.#pos)) this.#pos++;
  }

  #rightDelim(trims: boolean): Token {
    if (this.#parens > 0) return this.#error("unclosed left paren");
    if (trims) this.#pos++;
    this.#skip();
    this.#pos += this.options.right.length;
    const token = this.#token("rightDelim");
    if (trims) this.#passSpaces();
    this.#skip();
    this.#inside = false;
    return token;
  }

  #insideAction(): Token {
    if (this.#isSpace(this.#pos)) {
      this.#passSpaces();
      this.#skip();
      this.#spaced = true;
      if (this.#at("-") && this.#at(this.options.right, 1)) return this.#rightDelim(true);
    }
    if (this.#at(this.options.right)) return this.#rightDelim(false);
    return this.#marked(this.input.charAt(this.#pos));
  }

  /** Reads a token whose first character determines its type. */
  #marked(character: string): Token {
    const single = SINGLES[character];
    if (single !== undefined) return this.#single(single);
    const quoted = QUOTED[character];
    if (quoted !== undefined) return this.#quoted(character, ...quoted);
    if (NUMBER_START.test(this.input.slice(this.#pos, this.#pos + 2))) return this.#number();
    switch (character) {
      case ".":
        return this.#name("field");
      case "$":
        return this.#name("variable");
      case "`":
        return this.#rawQuoted();
      case "(":
      case ")":
        return this.#paren(character);
      case ":":
        return this.#declare();
      default:
        return this.#wordOrCharacter();
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

  #wordOrCharacter(): Token {
    const code = this.input.codePointAt(this.#pos);
    if (code === undefined) return this.#error("unclosed action");
    if (isAlphanumeric(code)) return this.#identifier();
    if (code < 0x20 || code >= 0x7f) return this.#error(`unrecognized character in action: ${unicodeName(code)}`);
    return this.#single("char");
  }

  #paren(character: string): Token {
    this.#pos++;
    this.#parens += character === "(" ? 1 : -1;
    if (this.#parens < 0) return this.#error("unexpected right paren");
    return this.#token(character === "(" ? "leftParen" : "rightParen");
  }

  #quoted(mark: string, type: TokenType, message: string): Token {
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
    WORD.lastIndex = this.#pos;
    WORD.test(this.input);
    this.#pos = WORD.lastIndex;
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
    const isJump = word === "break" || word === "continue";
    return this.#token(isKeyword(word) && !(isJump && this.options.isFunction(word)) ? word : "identifier");
  }

  #badCharacter(): Token {
    return this.#error(`bad character ${unicodeName(this.input.codePointAt(this.#pos) ?? 0)}`);
  }

  /** Whether a name may end here: the next character must not look like a part of the name. */
  #atTerminator(): boolean {
    // At the end of the text, the character is empty, which each text includes.
    return TERMINATORS.includes(this.input.charAt(this.#pos)) || this.#at(this.options.right);
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

  /** Skips text that looks like a number. If a letter or digit follows, skips that character too and returns false. */
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

function unicodeName(code: number): string {
  return sprintf("%#U", [BigInt(code)]);
}
