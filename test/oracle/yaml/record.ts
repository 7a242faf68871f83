/**
 * Records how kubectl's YAML library reads and writes the hostile texts, for unit tests that run without Go: `deno run
 * -A test/oracle/yaml/record.ts`. Fails if the library reads our output differently.
 */
import { MeshError } from "../../../src/base/errors.ts";
import { toYaml } from "../../../src/yaml/mod.ts";
import { sameValue } from "../../../src/base/values/mod.ts";
import { newMap, type Value } from "../../../src/base/value.ts";
import { HOSTILE } from "./hostile.ts";
import { ask, exactJson } from "./oracle.ts";

const NUMBERS = [
  "0",
  "-0",
  "1.5",
  "1e16",
  "1e20",
  "1e21",
  "123456789.5",
  "0.000001",
  "0.0001",
  "100000.5",
  "1234567.5",
  "5e-324",
];
const KEYS = [
  "a-1",
  "a.1",
  "a/1",
  "a_1",
  "a9",
  "a10",
  "ab",
  "AB",
  "aB",
  "a",
  "A",
  "1",
  "10",
  "9",
  "a01",
  "a1",
  "a001",
  "é",

  "a100",
  "a20",
  "",
  "-",
  "z",
  "_x",
  "日",
];

const read = HOSTILE.filter((text) => text.length < 300).flatMap((
  text,
) => [`v: ${text}\n`, `${text}: v\n`, `- ${text}\n`]);
const answers = await ask(read.map((text) => ({ read: text })));
const written = HOSTILE.map((text) => toYaml([text, mapOf(text, mapOf("v", text))]));
const back = await ask(written.map((text) => ({ read: text })));
HOSTILE.forEach((text, index) => {
  const json = back[index]?.json;
  if (json === undefined || !sameValue(exactJson(json), [text, mapOf(text, mapOf("v", text))])) {
    throw new MeshError(`The text ${JSON.stringify(text)} is not read back: ${JSON.stringify(written[index])}`);
  }
});
const numbers = await ask(NUMBERS.map((text) => ({ write: Number(text) })));
const order = await ask([{ write: Object.fromEntries(KEYS.map((key) => [key, 1])) }]);

const recorded = {
  read: read.map((text, index) => [text, answers[index]?.json ?? null]),
  write: HOSTILE.map((text, index) => [text, written[index]]),
  numbers: NUMBERS.map((text, index) => [text, numbers[index]?.yaml]),
  order: order[0]?.yaml,
};
const target = new URL("../../../src/yaml/testdata/kubectl.json", import.meta.url);
const rows = Object.entries(recorded).map(([name, value]) =>
  `"${name}": ${
    Array.isArray(value) ? `[\n${value.map((row) => JSON.stringify(row)).join(",\n")}\n]` : JSON.stringify(value)
  }`
);
await Deno.writeTextFile(target, `{\n${rows.join(",\n")}\n}\n`);

function mapOf(key: string, value: Value): Value {
  const map = newMap();
  map[key] = value;
  return map;
}
