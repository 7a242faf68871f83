import { formatValue } from "../fmt/print.ts";
import { noFlags } from "../fmt/flags.ts";

const KEYWORDS = [
  "block",
  "break",
  "continue",
  "define",
  "else",
  "end",
  "if",
  "nil",
  "range",
  "template",
  "with",
] as const;

/** A keyword of the template language. */
type Keyword = (typeof KEYWORDS)[number];

/** The kind of a token. */
export type TokenType =
  | Keyword
  | "error"
  | "bool"
  | "char"
  | "charConstant"
  | "complex"
  | "assign"
  | "declare"
  | "eof"
  | "field"
  | "identifier"
  | "leftDelim"
  | "leftParen"
  | "number"
  | "pipe"
  | "rawString"
  | "rightDelim"
  | "rightParen"
  | "string"
  | "text"
  | "variable"
  | "dot";

/** A piece of template text. */
export interface Token {
  readonly type: TokenType;
  readonly text: string;
  /** Offset in the template, in UTF-16 units. */
  readonly pos: number;
  /** Whether white space precedes the token inside an action. */
  readonly spaced: boolean;
}

const keywordSet: ReadonlySet<string> = new Set(KEYWORDS);

/** Whether a word is a keyword. */
export function isKeyword(word: string): word is Keyword {
  return keywordSet.has(word);
}

/** A token as error messages show it: a keyword in angle brackets, any other token quoted and cut to ten characters. */
export function tokenText(token: Token): string {
  if (token.type === "eof") return "EOF";
  if (token.type === "error") return token.text;
  if (isKeyword(token.type) || token.type === "dot") return `<${token.text}>`;
  if (token.text.length > 10) return `${formatValue(token.text, "q", { ...noFlags(), precision: 10 })}...`;
  return formatValue(token.text, "q", noFlags());
}
