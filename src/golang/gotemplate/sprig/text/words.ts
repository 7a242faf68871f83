/**
 * Conversions between `CamelCase`, `snake_case` and `kebab-case` by sprig's word rules: digits join the previous or
 * next word, and `HTTPServer` is two words.
 */
import { isSpace, isUpper, lowerRune, upperRune } from "./letters.ts";

type Kind = "number" | "upper" | "letters" | "connector" | "punctuation" | "other" | "none";

interface Word {
  readonly kind: Kind;
  readonly runes: readonly string[];
}

const NONE: Word = { kind: "none", runes: [] };

/**
 * Converts `http_server` to `HttpServer`. Leading and doubled connectors stay. A text that consists only of connectors
 * gets one more connector.
 */
export function pascalCase(text: string): string {
  const runes = [...text];
  const start = runes.findIndex((rune) => !isConnector(rune));
  if (start < 0) return text + (runes.at(-1) ?? "");
  return runes.slice(0, start).join("") + joinWords(runes.slice(start));
}

function joinWords(runes: readonly string[]): string {
  let current = runes[0] ?? "";
  let lowering = isUpper(current);
  let out = "";
  current = upperRune(current);
  for (const next of runes.slice(1)) {
    const previous = current;
    current = next;
    if (isConnector(previous)) {
      if (isConnector(next)) {
        out += previous;
        continue;
      }
      lowering = isUpper(next);
      current = upperRune(next);
      continue;
    }
    lowering &&= isUpper(next);
    if (lowering) current = lowerRune(next);
    out += previous;
  }
  return out + current;
}

/** Joins words in lower case with a connector: `_` for snake case, `-` for kebab case. */
export function separatedCase(text: string, connector: string): string {
  return new Separator(splitWords([...text]), connector).run();
}

/** Walks over the words and places the connectors. The letters next to a number decide which word the number joins. */
class Separator {
  #at = 0;
  #out = "";
  #word: Word;

  constructor(readonly words: readonly Word[], readonly connector: string) {
    this.#word = words[0] ?? NONE;
  }

  run(): string {
    while (this.#hasMore()) this.#step();
    this.#emit();
    return this.#out;
  }

  #step(): void {
    const previous = this.#word;
    if (previous.kind !== "connector") this.#emit();
    this.#advance();
    if (previous.kind === "connector") this.#write(previous);
    else if (previous.kind === "number") this.#joinToNumber();
    else if (previous.kind !== "punctuation") this.#afterLetters();
  }

  #afterLetters(): void {
    if (this.#word.kind !== "number") return this.#connect();
    if (!this.#hasMore()) return;
    const number = this.#word;
    this.#advance();
    if (!this.#isOneOf("letters")) {
      this.#write(number);
      return this.#connect();
    }
    this.#out += this.connector;
    this.#write(number);
    this.#joinToNumber();
  }

  #joinToNumber(): void {
    while (this.#isOneOf("letters", "number")) {
      this.#emit();
      this.#advance();
    }
    if (this.#word.kind !== "none") this.#connect();
  }

  #connect(): void {
    if (!this.#isOneOf("connector", "punctuation")) this.#out += this.connector;
  }

  #isOneOf(...kinds: Kind[]): boolean {
    return kinds.includes(this.#word.kind);
  }

  #emit(): void {
    this.#write(this.#word);
  }

  #write(word: Word): void {
    const changes = word.kind === "upper" || word.kind === "connector";
    for (const rune of word.runes) this.#out += changes ? this.#lowered(rune) : rune;
  }

  #lowered(rune: string): string {
    return isConnector(rune) ? this.connector : isUpper(rune) ? lowerRune(rune) : rune;
  }

  #hasMore(): boolean {
    return this.#at < this.words.length - 1;
  }

  #advance(): void {
    this.#at++;
    this.#word = this.words[this.#at] ?? NONE;
  }
}

function splitWords(runes: readonly string[]): Word[] {
  const words: Word[] = [];
  for (let at = 0; at < runes.length;) {
    const word = wordAt(runes, at);
    words.push(word);
    at += word.runes.length;
  }
  return words;
}

/**
 * Tests for runes that continue a word, by the kind of the word's first rune. By default, runes of the same kind
 * continue it.
 */
const RUNS: Partial<Record<Kind, (rune: string) => boolean>> = { letters: isLowerLetter, punctuation: isPunctuation };

function wordAt(runes: readonly string[], at: number): Word {
  const first = runes[at] ?? "";
  const kind = kindOfRune(first);
  if (kind === "upper") return upperWordAt(runes, at);
  const belongs = RUNS[kind] ?? ((rune: string) => kindOfRune(rune) === kind);
  return { kind, runes: runes.slice(at, endOfRun(runes, at + 1, belongs)) };
}

/**
 * Reads a word that starts with a capital letter. `First` is one word; in `HTTPStatus` the last capital letter starts
 * the second word.
 */
function upperWordAt(runes: readonly string[], at: number): Word {
  const second = runes[at + 1] ?? "";
  if (!isUpper(second)) return { kind: "upper", runes: runes.slice(at, endOfRun(runes, at + 1, isLowerLetter)) };
  const end = endOfRun(runes, at + 1, isUpper);
  const backsOff = end < runes.length && isAlphabet(runes[end] ?? "");
  return { kind: "upper", runes: runes.slice(at, backsOff ? end - 1 : end) };
}

function endOfRun(runes: readonly string[], from: number, belongs: (rune: string) => boolean): number {
  let end = from;
  while (end < runes.length && belongs(runes[end] ?? "")) end++;
  return end;
}

function kindOfRune(rune: string): Kind {
  if (isConnector(rune)) return "connector";
  if (isPunctuation(rune)) return "punctuation";
  if (isUpper(rune)) return "upper";
  if (isAlphabet(rune)) return "letters";
  return /^\p{N}$/u.test(rune) ? "number" : "other";
}

function isPunctuation(rune: string): boolean {
  return /^\p{P}$/u.test(rune);
}

function isLowerLetter(rune: string): boolean {
  return isAlphabet(rune) && !isUpper(rune);
}

const IDEOGRAPH = /^[\u3400-\u4d85\u4e00-\u9fcc\u{20000}-\u{2b81d}]$/u;

/** Whether a rune is a letter that forms words. Chinese ideographs do not form words. */
function isAlphabet(rune: string): boolean {
  return /^\p{L}$/u.test(rune) && !IDEOGRAPH.test(rune);
}

function isConnector(rune: string): boolean {
  return rune === "-" || rune === "_" || isSpace(rune);
}
