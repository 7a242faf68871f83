/** Go's regular expressions, implemented by re2js. */
import type { Matcher, RE2JS } from "re2js";
import { re2Library } from "../../../re2.ts";

/** A match: its offset, its text, and the texts of its groups (index 0 is group 1). */
export interface Match {
  readonly index: number;
  readonly text: string;
  readonly groups: readonly (string | undefined)[];
}

/** A compiled expression. */
export class Expression {
  /** The names of the groups (`""` for none; index 0 is group 1). */
  readonly names: readonly string[];
  readonly #compiled: RE2JS;

  /** Throws an Error with the text of Go's `regexp/syntax.Error` if the pattern is invalid. */
  constructor(readonly pattern: string) {
    const { compiled, nameOf } = compile(pattern);
    const names = new Array<string>(compiled.groupCount()).fill("");
    for (const [name, group] of Object.entries(compiled.namedGroups())) names[group - 1] = nameOf(name);
    this.names = names;
    this.#compiled = compiled;
  }

  /** Whether the expression matches somewhere. */
  matches(subject: string): boolean {
    return this.#compiled.matcher(subject).find();
  }

  /**
   * Finds all matches, or at most `limit` unless it is negative. An empty match directly after another match does not
   * count.
   */
  findAll(subject: string, limit: number): Match[] {
    const matcher = this.#compiled.matcher(subject);
    const matches: Match[] = [];
    let previousEnd = -1;
    for (let at = 0; at <= subject.length && matches.length !== limit && matcher.find(at);) {
      const [start, end] = [matcher.start(), matcher.end()];
      if (end > at || start !== previousEnd) matches.push(matchOf(matcher, start));
      at = end > at ? end : nextIndex(subject, at);
      previousEnd = end;
    }
    return matches;
  }
}

interface Compiled {
  readonly compiled: RE2JS;
  /** Maps a group's name in re2js to the group's name in the pattern. */
  readonly nameOf: (name: string) => string;
}

function compile(pattern: string): Compiled {
  const { RE2JS, RE2JSSyntaxException } = re2Library.get();
  try {
    return { compiled: RE2JS.compile(pattern), nameOf: (name) => name };
  } catch (error) {
    if (!(error instanceof RE2JSSyntaxException)) throw error;
    if (error.error !== "duplicate capture group name") throw goError(error, pattern);
    return { ...compile(withUniqueNames(pattern)), nameOf: (name) => name.replace(UNIQUE, "") };
  }
}

const UNIQUE = /^group\d+_/;

/**
 * Makes group names unique, because Go allows duplicate names and re2js does not. Skips quotes, escapes and classes,
 * which contain no groups.
 */
function withUniqueNames(pattern: string): string {
  let groups = 0;
  return pattern.replace(
    /\\Q[^]*?(?:\\E|$)|\\[^]|\[\^?\]?(?:\[:\^?\w{1,10}:\]|\\(?:[^]|$)|[^\]\\])*(?:\]|$)|(\(\?P?<)(?=\w+>)/g,
    (all, start) => start === undefined ? all : `${start}group${++groups}_`,
  );
}

interface SyntaxError {
  readonly error: string;
  readonly input: string | null;
}

/**
 * Converts a re2js error to Go's error text. The texts differ where Go quotes the whole pattern, and for a pattern that
 * ends in `(?P<` or `(?<`.
 */
function goError({ error, input }: SyntaxError, pattern: string): Error {
  if (input === "(?P<" || input === "(?<") {
    return new Error(`error parsing regexp: invalid or unsupported Perl syntax: \`${input.slice(0, 3)}\``);
  }
  const part = input ?? (error.startsWith("trailing backslash") ? "" : pattern);
  return new Error(`error parsing regexp: ${error}: \`${part.replaceAll(/(?<=\(\?P?<)group\d+_/g, "")}\``);
}

function matchOf(matcher: Matcher, index: number): Match {
  const groups = Array.from({ length: matcher.groupCount() }, (_, group) => matcher.group(group + 1) ?? undefined);
  return { index, text: matcher.group() ?? "", groups };
}

/** The index after the character at `at`. */
function nextIndex(subject: string, at: number): number {
  return at + ((subject.codePointAt(at) ?? 0) > 0xffff ? 2 : 1);
}
