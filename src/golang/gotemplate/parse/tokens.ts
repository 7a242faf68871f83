import { lineAndColumn, TemplateError } from "../error.ts";
import { Lexer, type LexOptions } from "./lexer.ts";
import { type Token, tokenText, type TokenType } from "./token.ts";

/** The tokens of a template, with look-ahead. Errors name the line of the latest token. */
export class Tokens {
  readonly #lexer: Lexer;
  readonly #pushed: Token[] = [];
  /** The token that was read last. Errors name its line. */
  #latest: Token = { type: "eof", text: "", pos: 0, spaced: false };
  /** The offset at which the current action started. */
  actionStart: number | undefined;

  constructor(readonly name: string, readonly text: string, options: LexOptions) {
    this.#lexer = new Lexer(text, options);
  }

  next(): Token {
    return this.#pushed.pop() ?? (this.#latest = this.#lexer.next());
  }

  peek(): Token {
    const token = this.next();
    this.#pushed.push(token);
    return token;
  }

  /** Puts a token back, so that it is read next. */
  pushBack(token: Token): void {
    this.#pushed.push(token);
  }

  /** Reads the next token. Throws if the token has none of these types. */
  expect(context: string, ...types: TokenType[]): Token {
    const token = this.next();
    if (!types.includes(token.type)) throw this.unexpected(token, context);
    return token;
  }

  /** An error on the line of the token read last. */
  error(message: string, cause?: unknown): TemplateError {
    const line = this.#line(this.#latest.pos);
    return new TemplateError(`template: ${this.name}:${line}: ${message}`, { place: { line }, cause });
  }

  unexpected(token: Token, context: string): TemplateError {
    if (token.type !== "error") return this.error(`unexpected ${tokenText(token)} in ${context}`);
    return this.error(token.text + this.#startedAt(token));
  }

  #startedAt(token: Token): string {
    const line = this.actionStart === undefined ? undefined : this.#line(this.actionStart);
    if (line === undefined || line === this.#line(token.pos)) return "";
    const started = ` in action started at ${this.name}:${line}`;
    return token.text.endsWith(" action") ? started.slice(" in action".length) : started;
  }

  #line(pos: number): number {
    return lineAndColumn(this.text, pos).line;
  }
}
