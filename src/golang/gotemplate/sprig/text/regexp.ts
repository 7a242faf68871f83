/** sprig's functions on regular expressions, with Go's rules for empty matches and for `$1`, `${name}` in replacements. */
import { type FuncMap, type GoValue, pure } from "../../../go_value.ts";
import { attempt, INT, int, limitMade, STRING, text } from "../args.ts";
import { Expression, type Match } from "./expression.ts";
import { stringList } from "./strings.ts";

type Body = (expression: Expression, subject: string, argument: GoValue) => GoValue;

/**
 * Returns the functions by name. Functions without `must` also throw for an invalid expression, except `regexMatch`.
 */
export function regexpFunctions(): FuncMap {
  return {
    regexMatch: pure(
      [STRING, STRING],
      (pattern, s) => attempt(() => compile(text(pattern), "").matches(text(s)), false),
    ),
    mustRegexMatch: withPattern([], "", (e, s) => e.matches(s)),
    ...pair("RegexFind", [], (e, s) => e.findAll(s, 1)[0]?.text ?? ""),
    ...pair("RegexFindAll", [INT], (e, s, n) => stringList(e.findAll(s, int(n)).map((match) => match.text))),
    ...pair("RegexReplaceAll", [STRING], (e, s, by) => replaceAll(e, s, (match) => expand(text(by), match, e.names))),
    ...pair("RegexReplaceAllLiteral", [STRING], (e, s, by) => replaceAll(e, s, () => text(by))),
    ...pair("RegexSplit", [INT], (e, s, n) => stringList(split(e, s, int(n)))),
    regexQuoteMeta: pure([STRING], (s) => text(s).replace(/[\\.+*?()|[\]{}^$]/g, "\\$&")),
  };
}

function pair(name: string, more: readonly string[], body: Body): FuncMap {
  return {
    [`must${name}`]: withPattern(more, "", body),
    [name.replace("R", "r")]: withPattern(more, "regexp: Compile", body),
  };
}

function withPattern(more: readonly string[], panic: string, body: Body) {
  return pure([STRING, STRING, ...more], (pattern, s, argument = null) => {
    return body(compile(text(pattern), panic), text(s), argument);
  });
}

const compiled = new Map<string, Expression>();
const MAX_COMPILED = 200;

/** Compiles an expression, or returns it from a cache. `panic` is the prefix of the error in Go's MustCompile. */
function compile(pattern: string, panic: string): Expression {
  const known = compiled.get(pattern);
  if (known !== undefined) return known;
  try {
    const expression = new Expression(pattern);
    if (compiled.size >= MAX_COMPILED) compiled.clear();
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

/** Replaces each match in a text. Throws if the result exceeds `MAX_MADE`. */
export function replaceAll(expression: Expression, subject: string, by: (match: Match) => string): string {
  let out = "";
  let lastEnd = 0;
  for (const match of expression.findAll(subject, -1)) {
    out += subject.slice(lastEnd, match.index) + by(match);
    lastEnd = match.index + match.text.length;
    limitMade(out.length);
  }
  return out + subject.slice(lastEnd);
}

/** Replaces `$1`, `$name` and `${name}` with groups, and `$$` with a dollar sign. An unknown group is empty. */
function expand(template: string, match: Match, names: readonly string[]): string {
  return template.replace(/\$(?:(\$)|([\p{L}\p{Nd}_]+)|\{([\p{L}\p{Nd}_]+)\})/gu, (_, dollar, bare, braced) => {
    if (dollar !== undefined) return "$";
    const name = String(bare ?? braced);
    if (name === "0") return match.text;
    if (/^[1-9]\d*$/.test(name)) return match.groups[Number(name) - 1] ?? "";
    return match.groups.find((group, index) => group !== undefined && names[index] === name) ?? "";
  });
}

/**
 * Splits a text at matches, into at most `limit` parts unless `limit` is negative. An empty match at the start does not
 * split.
 */
function split(expression: Expression, subject: string, limit: number): string[] {
  if (limit === 0) return [];
  if (subject === "") return expression.pattern === "" ? [] : [""];
  const parts: string[] = [];
  let start = 0;
  let end = 0;
  for (const match of expression.findAll(subject, limit)) {
    if (parts.length === limit - 1) break;
    end = match.index;
    const after = end + match.text.length;
    if (after !== 0) parts.push(subject.slice(start, end));
    start = after;
  }
  return end === subject.length ? parts : [...parts, subject.slice(start)];
}
