/**
 * Conversions between `CamelCase`, `snake_case` and `kebab-case` by sprig's word rules: digits join the previous or
 * next word, and `HTTPServer` is two words.
 */
import { isUpper, lowerRune, upperRune } from "./letters.ts";

/**
 * Converts `http_server` to `HttpServer`. Leading and doubled connectors stay. A text that consists only of connectors
 * gets one more connector.
 */
export function pascalCase(text: string): string {
  const parts = text.match(/[\-_\p{White_Space}]+|[^\-_\p{White_Space}]+/gv) ?? [];
  return parts.map((part, index) => {
    if (!/^[\-_\p{White_Space}]/v.test(part)) return part.replace(/^(.)(\p{Lu}*)/su, capitalised);
    if (parts.length === 1) return part + part.slice(-1);
    return index === 0 || index === parts.length - 1 ? part : part.slice(0, -1);
  }).join("");
}

/**
 * Changes the first letter of a word to upper case. If the first letter already is upper case, changes the upper-case
 * letters directly after it to lower case.
 */
function capitalised(_: string, first: string, capitals: string): string {
  return upperRune(first) + (isUpper(first) ? [...capitals].map(lowerRune).join("") : capitals);
}

const IDEOGRAPHS = String.raw`\u3400-\u4d85\u4e00-\u9fcc\u{20000}-\u{2b81d}`;
/** Matches letters except capitals and Chinese ideographs. Ideographs do not form words. */
const LETTER = String.raw`[^\P{L}\p{Lu}${IDEOGRAPHS}]`;

/** Words by kind. In `HTTPStatus` the last capital letter starts the second word. */
const WORD = new RegExp(
  String.raw`(?<connector>[\-_\p{White_Space}]+)|(?<punctuation>\p{P}+)|(?<number>\p{N}+)` +
    String.raw`|(?<upper>\p{Lu}+(?=\p{Lu}${LETTER})|\p{Lu}{2,}|\p{Lu}${LETTER}*)|(?<letters>${LETTER}+)` +
    String.raw`|(?<other>(?:[^\p{L}\p{N}\p{P}\p{White_Space}]|[${IDEOGRAPHS}])+)`,
  "gu",
);

/**
 * Joins words in lower case with a connector: `_` for snake case, `-` for kebab case. The letters next to a number decide
 * which word the number joins.
 */
export function separatedCase(text: string, connector: string): string {
  const words = [...text.matchAll(WORD)].map(({ 0: word, groups = {} }) => {
    return { word, kind: Object.keys(groups).find((kind) => groups[kind] !== undefined) };
  });
  let at = 0;
  let out = "";
  const isNext = (...kinds: string[]) => kinds.includes(words[at]?.kind ?? "");
  const emit = () => {
    const { word = "", kind } = words[at++] ?? {};
    if (kind === "connector") out += connector.repeat(word.length);
    else out += kind === "upper" ? word.replace(/\p{Lu}/gu, lowerRune) : word;
  };
  const connect = () => {
    if (!isNext("connector", "punctuation")) out += connector;
  };
  const joinToNumber = () => {
    while (isNext("letters", "number")) emit();
    if (at < words.length) connect();
  };
  while (at < words.length - 1) {
    const { kind } = words[at] ?? {};
    emit();
    if (kind === "connector" || kind === "punctuation") continue;
    if (kind === "number") joinToNumber();
    else if (!isNext("number")) connect();
    else if (words[at + 1]?.kind === "letters") {
      out += connector;
      emit();
      joinToNumber();
    } else if (at < words.length - 1) {
      emit();
      connect();
    }
  }
  if (at < words.length) emit();
  return out;
}
