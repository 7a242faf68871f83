import assert from "node:assert/strict";
import { exactJson } from "../../test/oracle/yaml/oracle.ts";
import { MeshError } from "../base/errors.ts";
import { newMap, type Value } from "../base/value.ts";
import { numberText } from "./read/number_text.ts";
import { parseDocument } from "./read/parse.ts";
import recorded from "./testdata/kubectl.json" with { type: "json" };
import { toYaml } from "./write/to_yaml.ts";
import { sameValue } from "../base/values/mod.ts";

/** Syntax of YAML 1.2 that this program reads. go-yaml follows YAML 1.1, and rejects or truncates it. */
const NEWER_SYNTAX = /[\x85\u2028\u2029]|^(?:&a?|\.\.\. b): v|^- \ta|^- !a?$|^! ?<<:/;
/** Syntax that this program rejects. go-yaml stops after the first value and ignores the rest of the text. */
const TRAILING = /^(?:\[\]|\{\}): v|\n+: v\n$|^a\n {2}: v/;

function readOrRefuse(text: string): Value | undefined {
  try {
    return parseDocument({ text }).value;
  } catch (error) {
    assert.ok(error instanceof MeshError, `${JSON.stringify(text)}: ${error}`);
    return undefined;
  }
}

function isAsRecorded(value: Value | undefined, json: string | null | undefined): boolean {
  if (json === null || json === undefined) return value === undefined;
  return value !== undefined && sameValue(value, exactJson(json));
}

Deno.test("parseDocument() reads hostile scalars as kubectl does", () => {
  const wrong: unknown[] = [];
  for (const [text, json] of recorded.read) {
    const value = readOrRefuse(text ?? "");
    const isOurs = NEWER_SYNTAX.test(text ?? "") || TRAILING.test(text ?? "");
    if (!isOurs && !isAsRecorded(value, json)) wrong.push([text, json, value]);
  }
  assert.ok(recorded.read.length > 1000);
  assert.deepEqual(wrong, []);
});

Deno.test("toYaml() writes hostile strings as recorded, which kubectl reads back", () => {
  assert.ok(recorded.write.length > 200);
  for (const [text = "", yaml] of recorded.write) {
    const value = [text, mapOf(text, mapOf("v", text))];
    assert.equal(toYaml(value), yaml);
    assert.ok(sameValue(parseDocument({ text: toYaml(value) }).value, value), JSON.stringify(text));
  }
});

Deno.test("numberText() writes floats as Go does", () => {
  for (const [text = "", yaml = ""] of recorded.numbers) {
    const whole = Number.isInteger(Number(text)) && Math.abs(Number(text)) < 2 ** 64;
    // For a whole number, compares only the value, because go-yaml keeps the notation of the JSON.
    if (!whole) assert.equal(`${numberText(Number(text))}\n`, yaml);
    else assert.equal(Number(numberText(Number(text))), Number(yaml));
  }
});

Deno.test("toYaml() sorts keys as kubectl does", () => {
  const value = newMap();
  for (const key of Object.keys(parseDocument({ text: recorded.order }).value ?? {}).sort()) value[key] = 1;
  assert.equal(toYaml(value, { sortKeys: true }), recorded.order);
});

function mapOf(key: string, value: Value): Value {
  const map = newMap();
  map[key] = value;
  return map;
}
