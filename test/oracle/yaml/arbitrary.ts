import { fc } from "../../support/properties.ts";
import { newMap, type Value } from "../../../src/base/value.ts";

const key = fc.constantFrom("name", "a", "b", "spec", "on", "8080", "x.y/z", "key", "image", "__proto__", "with space");
const text = fc.oneof(
  fc.constantFrom(
    "",
    "a",
    "yes",
    "1",
    "a: b",
    "# c",
    "x\ny",
    "x\ny\n",
    "x\n\n",
    " lead\nb",
    "- a",
    "{{x}}",
    "it's",
    "a\tb",
    "é",
  ),
  fc.string({ maxLength: 8, unit: "grapheme" }).filter((value) => value.isWellFormed()),
);
const scalar: fc.Arbitrary<Value> = fc.oneof(
  text,
  fc.integer({ min: -5, max: 9999 }),
  fc.boolean(),
  fc.constant(null),
  fc.constant(9007199254740993n),
);
/** Any value that a manifest can contain. */
export const { value } = fc.letrec<{ value: Value; map: Value; list: Value }>((tie) => ({
  value: fc.oneof({ maxDepth: 4 }, scalar, tie("map"), tie("list")),
  map: fc.uniqueArray(fc.tuple(key, tie("value")), { maxLength: 4, selector: (pair) => pair[0] }).map(mapOf),
  list: fc.array(tie("value"), { maxLength: 4 }),
}));
/** A pair of similar values. */
export const pair = fc.tuple(value, value, fc.nat()).map(([a, b, seed]): [Value, Value] => [a, mix(a, b, seed)]);
/** Layout options of toYaml. */
export const style = fc.record({
  step: fc.constantFrom(2, 4),
  listIndent: fc.constantFrom(0, 2, 4),
  eol: fc.constantFrom("\n", "\r\n"),
});

function mapOf(pairs: readonly [string, Value][]): Value {
  const map = newMap();
  for (const [name, item] of pairs) map[name] = item;
  return map;
}

/** Returns `a` with some parts removed, doubled, or replaced by parts of `b`. */
function mix(a: Value, b: Value, seed: number): Value {
  const choice = seed % 7;
  const rest = Math.floor(seed / 3) + 11;
  if (choice === 0 || typeof a !== "object" || a === null) return b;
  if (Array.isArray(a)) return mixList(a, b, rest);
  return mapOf(
    Object.entries(a).flatMap(([name, item], index): [string, Value][] =>
      (rest + index) % 5 === 0 ? [] : [[name, (rest + index) % 2 === 0 ? item : mix(item, b, rest + index)]]
    ).concat(choice > 3 ? [["added", b]] : []),
  );
}

function mixList(a: readonly Value[], b: Value, rest: number): Value {
  return a.flatMap((item, index): Value[] => {
    const choice = (rest + index) % 6;
    if (choice === 0) return [];
    return choice === 1 ? [b, item] : [choice < 4 ? item : mix(item, b, rest + index)];
  });
}

/** Adds comments and blank lines to a text, except in block scalars. */
export function withComments(source: string): string {
  if (/[|>][-+0-9]*\r?$/m.test(source)) return source;
  return source.split("\n").map((line, index) => {
    if (index % 4 === 1) return `${line.replace(/\S.*$/, "# note")}\n${line}`;
    return index % 7 === 3 ? `\n${line}` : line;
  }).join("\n");
}
