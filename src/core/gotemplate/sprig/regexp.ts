/**
 * sprig's functions on regular expressions, with Go's rules for empty matches and for `$1`, `${name}` in replacements.
 * The matching itself is JavaScript's: an expression that makes it backtrack without end is not caught.
 */
import { declared, type FuncMap, type GoValue } from "../value.ts";
import { INT, int, STRING, text } from "./args.ts";
import { translate } from "./regexp_syntax.ts";
import { stringList } from "./strings.ts";

interface Expression {
  readonly matcher: RegExp;
  readonly names: readonly string[];
}

type Body = (expression: Expression, subject: string, argument: GoValue) => GoValue;

/** The functions by name. Those without `must` fail too where the expression is wrong, except `regexMatch`. */
export function regexpFunctions(): FuncMap {
  return {
    regexMatch: declared([STRING, STRING], (pattern, s) => matchesLeniently(text(pattern), text(s))),
    mustRegexMatch: withPattern([], "", (e, s) => findAt(e, s, 0) !== undefined),
    ...pair("RegexFind", [], (e, s) => findAt(e, s, 0)?.[0] ?? ""),
    ...pair("RegexFindAll", [INT], (e, s, n) => stringList(findAll(e, s, int(n)).map((match) => match[0]))),
    ...pair("RegexReplaceAll", [STRING], (e, s, by) => replaceAll(e, s, (match) => expand(text(by), match, e.names))),
    ...pair("RegexReplaceAllLiteral", [STRING], (e, s, by) => replaceAll(e, s, () => text(by))),
    ...pair("RegexSplit", [INT], (e, s, n) => stringList(split(e, s, int(n)))),
    regexQuoteMeta: declared([STRING], (s) => text(s).replace(/[\\.+*?()|[\]{}^$]/g, "\\$&")),
  };
}

function pair(name: string, more: readonly string[], body: Body): FuncMap {
  return {
    [`must${name}`]: withPattern(more, "", body),
    [name.replace("R", "r")]: withPattern(more, "regexp: Compile", body),
  };
}

function withPattern(more: readonly string[], panic: string, body: Body) {
  return declared([STRING, STRING, ...more], (pattern, s, argument = null) => {
    return body(compile(text(pattern), panic), text(s), argument);
  });
}

function matchesLeniently(pattern: string, subject: string): boolean {
  try {
    return findAt(compile(pattern, ""), subject, 0) !== undefined;
  } catch {
    return false;
  }
}

const compiled = new Map<string, Expression>();
const MOST_COMPILED = 200;

/** Compiles, or takes what an earlier call compiled. `panic` is what Go's MustCompile says before the error. */
function compile(pattern: string, panic: string): Expression {
  const known = compiled.get(pattern);
  if (known !== undefined) return known;
  try {
    const { source, names } = translate(pattern);
    const expression = { matcher: new RegExp(source, "gu"), names };
    if (compiled.size >= MOST_COMPILED) compiled.clear();
    compiled.set(pattern, expression);
    return expression;
  } catch (error) {
    if (panic === "" || !(error instanceof Error)) throw error;
    throw new Error(`${panic}(${quoteForPanic(pattern)}): ${error.message}`);
  }
}

function quoteForPanic(pattern: string): string {
  return pattern.includes("`") ? JSON.stringify(pattern) : `\`${pattern}\``;
}

/** The first match from `at` on. JavaScript may see an empty one between the halves of a character: that is none. */
function findAt({ matcher }: Expression, subject: string, at: number): RegExpExecArray | undefined {
  matcher.lastIndex = at;
  let match = matcher.exec(subject);
  while (match !== null && isInsideCharacter(subject, match.index)) {
    matcher.lastIndex = match.index + 1;
    match = matcher.exec(subject);
  }
  return match ?? undefined;
}

function isInsideCharacter(subject: string, index: number): boolean {
  return index > 0 && (subject.codePointAt(index - 1) ?? 0) > 0xffff;
}

/** The index after the character at `at`. */
function nextIndex(subject: string, at: number): number {
  return at + ((subject.codePointAt(at) ?? 0) > 0xffff ? 2 : 1);
}

/** All matches, at most `limit` unless negative; an empty match right after another match does not count. */
function findAll(expression: Expression, subject: string, limit: number): RegExpExecArray[] {
  const matches: RegExpExecArray[] = [];
  let previousEnd = -1;
  for (let at = 0; at <= subject.length && matches.length !== limit;) {
    const match = findAt(expression, subject, at);
    if (match === undefined) break;
    const end = match.index + match[0].length;
    if (end > at || match.index !== previousEnd) matches.push(match);
    at = end > at ? end : nextIndex(subject, at);
    previousEnd = end;
  }
  return matches;
}

function replaceAll(expression: Expression, subject: string, by: (match: RegExpExecArray) => string): string {
  let out = "";
  let lastEnd = 0;
  for (const match of findAll(expression, subject, -1)) {
    out += subject.slice(lastEnd, match.index) + by(match);
    lastEnd = match.index + match[0].length;
  }
  return out + subject.slice(lastEnd);
}

/** Puts groups in for `$1`, `$name`, `${name}`; `$$` is a dollar; an unknown group is empty. */
function expand(template: string, match: RegExpExecArray, names: readonly string[]): string {
  return template.replace(/\$(?:(\$)|([\p{L}\p{Nd}_]+)|\{([\p{L}\p{Nd}_]+)\})/gu, (_, dollar, bare, braced) => {
    if (dollar !== undefined) return "$";
    const name = String(bare ?? braced);
    if (/^(?:0|[1-9]\d*)$/.test(name)) return match[Number(name)] ?? "";
    return match.find((group, index) => index > 0 && group !== undefined && names[index - 1] === name) ?? "";
  });
}

/** The text between matches, at most `limit` parts unless negative; an empty match at the start cuts nothing. */
function split(expression: Expression, subject: string, limit: number): string[] {
  if (limit === 0) return [];
  if (subject === "") return expression.matcher.source === "(?:)" ? [] : [""];
  const parts: string[] = [];
  let start = 0;
  let end = 0;
  for (const match of findAll(expression, subject, limit)) {
    if (parts.length === limit - 1) break;
    end = match.index;
    const after = end + match[0].length;
    if (after !== 0) parts.push(subject.slice(start, end));
    start = after;
  }
  return end === subject.length ? parts : [...parts, subject.slice(start)];
}
