/**
 * Reads Go's regular expressions (RE2 syntax). Source of the syntax: the documentation of Go's regexp/syntax. Sets of
 * characters become JavaScript source; all else a tree.
 */
import { type Assertion, childrenOf, choiceOf, type Node, sequenceOf, sizeOf } from "./tree.ts";

/** A parsed expression and the names of its groups (`""` for none; index 0 is group 1). */
export interface Parsed {
  readonly tree: Node;
  readonly names: readonly string[];
}

/** Parses an expression. Errors: with the text of Go's `regexp/syntax.Error`. */
export function parseExpression(pattern: string): Parsed {
  const parser = new Parser(pattern);
  const tree = parser.alternatives(NO_FLAGS);
  if (!parser.atEnd) throw syntaxError("unexpected )", pattern);
  if (sizeOf(tree) > MAX_SIZE) throw syntaxError("expression too large", pattern);
  return { tree, names: parser.names };
}

interface Flags {
  readonly i: boolean;
  readonly m: boolean;
  readonly s: boolean;
  readonly U: boolean;
}

const NO_FLAGS: Flags = { i: false, m: false, s: false, U: false };

function syntaxError(code: string, part: string): Error {
  return new Error(`error parsing regexp: ${code}: \`${part}\``);
}

const PERL_CLASSES: Readonly<Record<string, string>> = { d: "0-9", s: "\\t\\n\\f\\r ", w: "0-9A-Za-z_" };

const POSIX_CLASSES: Readonly<Record<string, string>> = {
  alnum: "0-9A-Za-z",
  alpha: "A-Za-z",
  ascii: "\\x00-\\x7f",
  blank: "\\t ",
  cntrl: "\\x00-\\x1f\\x7f",
  digit: "0-9",
  graph: "!-~",
  lower: "a-z",
  print: " -~",
  punct: "!-\\/:-@\\[-`\\{-~",
  space: "\\t\\n\\v\\f\\r ",
  upper: "A-Z",
  word: "0-9A-Za-z_",
  xdigit: "0-9A-Fa-f",
};

const CONTROL_ESCAPES: Readonly<Record<string, string>> = {
  a: "\\x07",
  f: "\\f",
  n: "\\n",
  r: "\\r",
  t: "\\t",
  v: "\\v",
};

const MAX_REPEAT = 1000;
const MAX_DEPTH = 1000;
/** Instructions that Go's program may have: 128 MB of 40 bytes each. */
const MAX_SIZE = 3_355_443;

class Parser {
  readonly names: string[] = [];
  #at = 0;
  #depth = 0;

  constructor(readonly pattern: string) {}

  get atEnd(): boolean {
    return this.#at >= this.pattern.length;
  }

  /** Alternatives up to a closing parenthesis or the end. Flags set inside hold to the end of the group. */
  alternatives(outer: Flags): Node {
    let flags = outer;
    const options: Node[][] = [[]];
    while (!this.atEnd && !this.#looksAt(")")) {
      if (this.#take("|")) {
        options.push([]);
        continue;
      }
      const set = this.#flagSetting(flags);
      if (set === undefined) options.at(-1)?.push(...this.#next(flags));
      else flags = set;
    }
    return choiceOf(options.map(sequenceOf));
  }

  #next(flags: Flags): readonly Node[] {
    return this.#looksAt("\\Q") ? this.#quoted(flags) : [this.#repeated(flags, () => this.#atom(flags))];
  }

  #looksAt(text: string): boolean {
    return this.pattern.startsWith(text, this.#at);
  }

  #take(text: string): boolean {
    if (!this.#looksAt(text)) return false;
    this.#at += text.length;
    return true;
  }

  /** The match of a sticky expression, taken; `undefined` if it does not match here. */
  #match(expression: RegExp): RegExpExecArray | undefined {
    expression.lastIndex = this.#at;
    const match = expression.exec(this.pattern);
    if (match === null) return undefined;
    this.#at = expression.lastIndex;
    return match;
  }

  /** `(?i)` and the like, which open no group. */
  #flagSetting(flags: Flags): Flags | undefined {
    const match = this.#match(/\(\?([imsU]*(?:-[imsU]+)?)\)/y);
    return match?.[1] === undefined || match[1] === "" ? undefined : changed(flags, match[1]);
  }

  /** Text between `\Q` and `\E`; an operator after it repeats the last character. */
  #quoted(flags: Flags): readonly Node[] {
    const characters = [...this.#match(/\\Q([^]*?)(?:\\E|$)/y)?.[1] ?? ""].map((c) => character(literal(c), flags));
    const last = characters.pop();
    return last === undefined ? [] : [...characters, this.#repeated(flags, () => last, true)];
  }

  #repeated(flags: Flags, read: () => Node, afterAtom = false): Node {
    const start = this.#at;
    if (!afterAtom && (this.#match(/[*+?]/y) ?? this.#match(REPEAT)) !== undefined) {
      throw syntaxError("missing argument to repetition operator", this.pattern.slice(start, this.#at));
    }
    const body = read();
    const before = this.#at;
    const counts = this.#operator();
    if (counts === undefined) return body;
    const lazy = this.#take("?") !== flags.U;
    const node: Node = { kind: "repeat", body, ...counts, lazy };
    if (Math.max(counts.min, counts.max === Infinity ? 0 : counts.max) > 1 && repetitions(node) > MAX_REPEAT) {
      throw syntaxError("invalid repeat count", this.pattern.slice(before, this.#at));
    }
    this.#refuseSecond(before);
    return node;
  }

  #operator(): Counts | undefined {
    const simple = this.#match(/[*+?]/y);
    if (simple !== undefined) return OPERATORS[simple[0]];
    const counted = this.#match(REPEAT);
    if (counted === undefined) return undefined;
    const [text, min = "", comma, max = ""] = counted;
    if (Number(min) > MAX_REPEAT || Number(max) > MAX_REPEAT || (max !== "" && Number(max) < Number(min))) {
      throw syntaxError("invalid repeat count", text);
    }
    if (comma === undefined) return { min: Number(min), max: Number(min) };
    return { min: Number(min), max: max === "" ? Infinity : Number(max) };
  }

  #refuseSecond(before: number): void {
    if (this.#operator() === undefined) return;
    throw syntaxError("invalid nested repetition operator", this.pattern.slice(before, this.#at));
  }

  #atom(flags: Flags): Node {
    if (this.#looksAt("(")) return this.#group(flags);
    if (this.#looksAt("[")) return character(this.#bracket(), flags);
    if (this.#looksAt("\\")) return this.#escape(flags);
    const c = this.#character();
    if (c === ".") return { kind: "character", source: flags.s ? "[\\s\\S]" : "[^\\n]" };
    if (c === "^") return { kind: "assertion", name: flags.m ? "lineStart" : "start" };
    if (c === "$") return { kind: "assertion", name: flags.m ? "lineEnd" : "end" };
    return character(literal(c), flags);
  }

  #character(): string {
    const code = this.pattern.codePointAt(this.#at) ?? 0;
    const c = String.fromCodePoint(code);
    this.#at += c.length;
    return c;
  }

  #group(flags: Flags): Node {
    if (++this.#depth > MAX_DEPTH) throw syntaxError("expression nests too deeply", this.pattern);
    const { index, inner } = this.#groupStart(flags);
    const body = this.alternatives(inner);
    if (!this.#take(")")) throw syntaxError("missing closing )", this.pattern);
    this.#depth--;
    return index === undefined ? body : { kind: "capture", index, body };
  }

  /** The number of a group that captures, and the flags inside. */
  #groupStart(flags: Flags): { readonly index: number | undefined; readonly inner: Flags } {
    const start = this.#at;
    const named = this.#match(/\(\?P?<(\w+)>/y);
    if (named !== undefined) return { index: this.names.push(named[1] ?? ""), inner: flags };
    const options = this.#match(/\(\?([imsU]*(?:-[imsU]+)?):/y);
    if (options !== undefined) return { index: undefined, inner: changed(flags, options[1] ?? "") };
    if (this.#looksAt("(?")) throw this.#groupError(start);
    this.#at++;
    return { index: this.names.push(""), inner: flags };
  }

  #groupError(start: number): Error {
    const rest = this.pattern.slice(start);
    if (/^\(\?P?<[^]/.test(rest)) {
      const end = rest.indexOf(">");
      return syntaxError("invalid named capture", end < 0 ? rest : rest.slice(0, end + 1));
    }
    const flags = /^\(\?[imsU]*(?:-[imsU]*)?/.exec(rest)?.[0] ?? "";
    const wrong = rest.codePointAt(flags.length);
    return syntaxError(
      "invalid or unsupported Perl syntax",
      flags + (wrong === undefined ? "" : String.fromCodePoint(wrong)),
    );
  }

  #escape(flags: Flags): Node {
    for (const [text, name] of ASSERTIONS) if (this.#take(text)) return { kind: "assertion", name };
    const set = this.#setEscape();
    if (set !== undefined) return character(`[${set.negated ? "^" : ""}${set.members}]`, flags);
    return character(this.#characterEscape(), flags);
  }

  /** `\d`, `\PL`, `\p{Greek}`: a set of characters, also inside a class. */
  #setEscape(): { members: string; negated: boolean } | undefined {
    const perl = this.#match(/\\([dswDSW])/y)?.[1];
    if (perl !== undefined) {
      return { members: PERL_CLASSES[perl.toLowerCase()] ?? "", negated: perl !== perl.toLowerCase() };
    }
    const property = this.#match(/\\([pP])(?:\{(\^?)([^}]*)\}|(\w))/y);
    if (property === undefined) return undefined;
    const [text, letter, caret = "", name = "", short = ""] = property;
    return { members: unicodeClass(name || short, text), negated: (letter === "P") !== (caret === "^") };
  }

  #characterEscape(): string {
    const start = this.#at;
    const [, hex, shortHex, octal, control, punctuation] = this.#match(CHARACTER_ESCAPE) ?? [];
    if (control !== undefined) return CONTROL_ESCAPES[control] ?? "";
    if (punctuation !== undefined) return literal(punctuation);
    if (octal !== undefined) return this.#codePoint(parseInt(octal, 8), start);
    const digits = hex ?? shortHex;
    if (digits !== undefined) return this.#codePoint(parseInt(digits, 16), start);
    throw this.#escapeError(start);
  }

  #escapeError(start: number): Error {
    if (this.pattern.length === start + 1) {
      return new Error("error parsing regexp: trailing backslash at end of expression: ``");
    }
    this.#at = start + 1;
    const hex = this.#match(/x\{[0-9A-Fa-f]*|x[0-9A-Fa-f]?/y);
    if (hex === undefined || !this.atEnd) this.#character();
    return syntaxError("invalid escape sequence", this.pattern.slice(start, this.#at));
  }

  #codePoint(code: number, start: number): string {
    if (code <= 0x10ffff) return `\\u{${code.toString(16)}}`;
    throw syntaxError("invalid escape sequence", this.pattern.slice(start, this.#at).replace(/\}$/, ""));
  }

  #bracket(): string {
    const start = this.#at;
    this.#at++;
    const negated = this.#take("^");
    const inclusions: string[] = [];
    const exclusions: string[] = [];
    let first = true;
    while (first || !this.#looksAt("]")) {
      if (this.atEnd) throw syntaxError("missing closing ]", this.pattern.slice(start));
      const set = this.#posixClass() ?? this.#setEscape();
      if (set === undefined) inclusions.push(this.#classRange(start));
      else (set.negated ? exclusions : inclusions).push(set.members);
      first = false;
    }
    this.#at++;
    return classSource(inclusions.join(""), exclusions, negated);
  }

  #posixClass(): { members: string; negated: boolean } | undefined {
    const match = this.#match(/\[:(\^?)(\w*):\]/y);
    if (match === undefined) return undefined;
    const members = POSIX_CLASSES[match[2] ?? ""];
    if (members === undefined) throw syntaxError("invalid character class range", match[0]);
    return { members, negated: match[1] === "^" };
  }

  #classRange(bracket: number): string {
    const start = this.#at;
    const low = this.#classCharacter(bracket);
    if (!/^-[^\]]/.test(this.pattern.slice(this.#at))) return low;
    this.#at++;
    const high = this.#classCharacter(bracket);
    if (codeOf(high) < codeOf(low)) {
      throw syntaxError("invalid character class range", this.pattern.slice(start, this.#at));
    }
    return `${low}-${high}`;
  }

  #classCharacter(bracket: number): string {
    if (this.atEnd) throw syntaxError("missing closing ]", this.pattern.slice(bracket));
    if (this.#looksAt("\\")) return this.#characterEscape();
    return literal(this.#character());
  }
}

/** Hex in braces, hex, octal, control, punctuation. */
const CHARACTER_ESCAPE =
  /\\(?:x\{([0-9A-Fa-f]+)\}|x([0-9A-Fa-f]{2})|(0[0-7]{0,2}|[1-7][0-7]{1,2})|([afnrtv])|([!-/:-@[-`{-~]))/y;
const REPEAT = /\{(\d+)(,(\d*))?\}/y;
const ASSERTIONS: readonly (readonly [string, Assertion])[] = [
  ["\\A", "start"],
  ["\\z", "end"],
  ["\\b", "wordEdge"],
  ["\\B", "noWordEdge"],
];

interface Counts {
  readonly min: number;
  readonly max: number;
}

const OPERATORS: Readonly<Record<string, Counts>> = {
  "*": { min: 0, max: Infinity },
  "+": { min: 1, max: Infinity },
  "?": { min: 0, max: 1 },
};

/** How often a repetition writes its inmost part when all are written out. */
function repetitions(node: Node): number {
  const inside = Math.max(1, ...childrenOf(node).map(repetitions));
  if (node.kind !== "repeat" || node.max === 0) return node.kind === "repeat" ? 1 : inside;
  return inside * Math.max(1, node.max === Infinity ? node.min : node.max);
}

/** The flags after `im-s`. */
function changed(flags: Flags, change: string): Flags {
  const [on = "", off = ""] = change.split("-");
  const now = (name: string, before: boolean) => on.includes(name) || (before && !off.includes(name));
  return { i: now("i", flags.i), m: now("m", flags.m), s: now("s", flags.s), U: now("U", flags.U) };
}

function character(source: string, flags: Flags): Node {
  return { kind: "character", source: flags.i ? `(?i:${source})` : source };
}

/** A character as JavaScript source, good inside and outside of a class. */
function literal(c: string): string {
  return /^[A-Za-z0-9 ]$/.test(c) ? c : `\\u{${(c.codePointAt(0) ?? 0).toString(16)}}`;
}

/** The code point that a piece of source made by this file stands for. */
function codeOf(source: string): number {
  const hex = /^\\(?:u\{|x)([0-9a-f]+)/.exec(source)?.[1];
  if (hex !== undefined) return parseInt(hex, 16);
  return source.startsWith("\\")
    ? "\t\n\v\f\r".charCodeAt("tnvfr".indexOf(source.charAt(1)))
    : source.codePointAt(0) ?? 0;
}

/** A class; a negated set inside (`[^\Wa]`) becomes alternatives of one character each. */
function classSource(members: string, exclusions: readonly string[], negated: boolean): string {
  if (exclusions.length === 0) {
    if (members === "") return negated ? "[\\s\\S]" : "(?!)";
    return `[${negated ? "^" : ""}${members}]`;
  }
  const sets = exclusions.map((set) => `[^${set}]`);
  const any = `(?:${members === "" ? "" : `[${members}]|`}${sets.join("|")})`;
  return negated ? `(?:(?!${any})[\\s\\S])` : any;
}

const CATEGORY = /^(?:C[cfos]?|L[lmotu]?|M[cen]?|N[dlo]?|P[cdefios]?|S[ckmo]?|Z[lps]?)$/;

function unicodeClass(name: string, text: string): string {
  if (name === "Any") return "\\s\\S";
  const property = CATEGORY.test(name) ? `\\p{${name}}` : `\\p{Script=${name}}`;
  try {
    new RegExp(property, "u");
  } catch {
    throw syntaxError("invalid character class range", text);
  }
  return property;
}
