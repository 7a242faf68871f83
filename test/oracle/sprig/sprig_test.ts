/** Generated calls of sprig's functions give Go's output or Go's error. */
import assert from "node:assert/strict";
import { fc } from "../../support/properties.ts";
import { parse } from "../../../src/golang/gotemplate/mod.ts";
import { loadLibraries, sprigFunctions } from "../../../src/golang/gotemplate/sprig/mod.ts";
import { needsProgram, testWhen } from "../../support/test_when.ts";
import { askGo, type GoAnswer } from "./go.ts";

const functions = sprigFunctions({ now: () => new Date() });
const COUNT = 1500;

function ours(template: string): GoAnswer {
  try {
    return { out: parse("t", template, { funcs: functions }).render({}).toWellFormed() };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

const word = fc.oneof(
  fc.string({ maxLength: 12, unit: fc.constantFrom(..."aAbBzZ019 _-.,:/+é中ß\u{1f600}") }),
  fc.constantFrom("", "HTTPServer2xx", "foo_barBaz", "12", "0x1f", "1.50", "true", "a,b,,c", "../a//b/."),
);
const quoted = word.map((text) => JSON.stringify(text));
const small = fc.integer({ min: -6, max: 12 }).map(String);
const number = fc.oneof(small, fc.constantFrom("1.5", "-2.25", "1e3", "0.1", "9007199254740993"), quoted);
const scalar = fc.oneof(quoted, small, fc.constantFrom("true", "false", "nil", "2.5"));
const list = fc.array(scalar, { maxLength: 5 }).map((items) => `(list ${items.join(" ")})`);
const dict = fc.array(fc.tuple(fc.constantFrom('"a"', '"b"', '"c"'), fc.oneof(scalar, list)), { maxLength: 3 })
  .map((pairs) => `(dict ${pairs.flat().join(" ")})`);
const deepDict = fc.array(fc.tuple(fc.constantFrom('"a"', '"b"'), fc.oneof(scalar, dict)), { maxLength: 3 })
  .map((pairs) => `(dict ${pairs.flat().join(" ")})`);
const any = fc.oneof(scalar, list, dict);
const pattern = fc.constantFrom("a", "[a-z]+", "b*", "(a)|(b)", "^.", "\\d+", "", "(?i)z", "\\W", "$", "[^a]")
  .map((text) => JSON.stringify(text));
const version = fc.tuple(fc.nat(3), fc.nat(3), fc.nat(3), fc.constantFrom("", "-a", "-rc.1", "+m")).map((
  [a, b, c, d],
) => `${a}.${b}.${c}${d}`);
/** White space, including characters that are white space in JavaScript and not in Go. */
const space = fc.constantFrom("", "", "", "", "", " ", " ", "\t", "\n", "\u00a0", "\v");
const one = fc.tuple(
  space,
  fc.constantFrom("", "", "=", "!=", ">", "<", ">=", "<=", "=>", "=<", "~", "~>", "^", "!"),
  space,
  fc.constantFrom("", "", "v", "V"),
  fc.oneof(version, fc.constantFrom("1", "1.2", "1.x", "*", "x.1", "1.2.*", "01.2", "1.2.3-a-b.0", "1.2.3-", "1|2")),
  space,
).map((parts) => parts.join(""));
const between = fc.constantFrom(" ", ",", ", ", " - ", "\t-  ", "-", "||", " || ", "|", ",,");
const constraint = fc.tuple(one, fc.array(fc.tuple(between, one), { maxLength: 2 }))
  .map(([first, more]) => JSON.stringify(first + more.flat().join("")));

/** Functions by the kinds of their arguments. */
const calls: readonly (readonly [string, readonly fc.Arbitrary<string>[]])[] = [
  [
    "upper lower title untitle swapcase camelcase snakecase kebabcase initials nospace trim b64enc b64dec b32enc b32dec " +
    "base dir clean ext isAbs atoi urlParse regexQuoteMeta",
    [quoted],
  ],
  ["trimAll trimPrefix trimSuffix contains hasPrefix hasSuffix splitList split", [quoted, quoted]],
  ["trunc abbrev indent repeat wrap", [small, quoted]],
  ["substr abbrevboth", [small, small, quoted]],
  ["wrapWith splitn", [small, quoted, quoted]],
  ["replace", [quoted, quoted, quoted]],
  ["add sub mul div mod max min addf subf mulf divf", [number, number]],
  ["int int64 float64 ceil floor toDecimal add1", [number]],
  ["round", [number, small]],
  ["untilStep seq", [small, small, small]],
  ["toString toJson toPrettyJson quote squote typeOf kindOf empty toStrings sortAlpha deepCopy", [any]],
  ["first last rest initial reverse uniq compact toRawJson", [list]],
  ["append prepend without", [list, any]],
  ["has", [any, list]],
  ["slice", [list, small, small]],
  ["chunk", [fc.constantFrom("1", "2", "3"), list]],
  ["join", [quoted, list]],
  ["concat", [list, list]],
  ["merge mergeOverwrite", [deepDict, deepDict]],
  ["get hasKey unset pick omit", [dict, fc.constantFrom('"a"', '"b"', '"z"')]],
  ["deepEqual default coalesce all any", [any, any]],
  ["regexFindAll regexSplit", [pattern, quoted, small]],
  ["regexReplaceAll", [pattern, quoted, fc.constantFrom('"<$0>"', '"$1x"', '"${1}"', '"-"')]],
  ["semverCompare", [constraint, version.map((text) => JSON.stringify(text))]],
];

const call = fc.oneof(
  ...calls.flatMap(([names, kinds]) =>
    names.split(" ").map((name) => fc.tuple(...kinds).map((args) => `{{ ${name} ${args.join(" ")} }}`))
  ),
);

testWhen(needsProgram("go"), "sprigFunctions: generated calls give what Go gives", async () => {
  const templates = fc.sample(call, COUNT);
  await loadLibraries(...templates);
  const answers = await askGo(templates.map((template) => ({ name: "t", template, data: {} })));
  const wrong = templates
    .map((template, i) => ({ template, go: answers[i], ours: ours(template) }))
    .filter(({ go, ours }) => go?.out !== ours.out || go?.error !== ours.error);
  assert.deepEqual(wrong, []);
});
