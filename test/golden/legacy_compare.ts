/** Compares manifests as typed objects, except for a list of allowed differences. */
import assert from "node:assert/strict";
import { decode } from "../../src/kube/mod.ts";
import { workloadType } from "../support/workload_type.ts";
import { isList, isMap, newMap, type Value, type ValueMap } from "../../src/base/value.ts";
import { parseDocument, splitText } from "../../src/yaml/mod.ts";

/** An allowed difference and its reason. */
export interface Tolerated {
  /** Matched against lines such as `0/spec/template/metadata/labels/istio.io~1rev: want nothing, got ""`. */
  readonly line: RegExp;
  readonly why: string;
}

/**
 * Fails for differences that are not allowed, and for allowed differences that do not occur. A pod by
 * itself has no kind: it is read as one.
 */
export function assertSame(actual: readonly Value[], expected: readonly Value[], tolerated: readonly Tolerated[] = []) {
  const lines = [...differences(actual.map(asHeld), expected.map(asHeld), "")];
  const unused = new Set(tolerated);
  const left = lines.filter((line) => {
    const rules = tolerated.filter((rule) => rule.line.test(line));
    for (const rule of rules) unused.delete(rule);
    return rules.length === 0;
  });
  assert.deepEqual(left, [], left.join("\n"));
  assert.deepEqual([...unused].map(({ why }) => why), [], "nothing differs in what is tolerated");
}

/** The non-empty documents of a text. */
export function documentsOf(text: string): Value[] {
  return splitText(text, "").map((doc) => parseDocument(doc).value).filter((value) => value !== null);
}

/** The pods of all manifests of a text: the outputs of 1.1 were made with every manifest read as a Deployment. */
export function podsOf(text: string): Value[] {
  const manifests = documentsOf(text).flatMap((value) =>
    isMap(value) && isList(value["items"]) ? value["items"] : [value]
  );
  return manifests.flatMap((manifest) => {
    const spec = isMap(manifest) && isMap(manifest["spec"]) ? manifest["spec"] : newMap();
    return spec["template"] === undefined ? [] : [spec["template"]];
  });
}

/**
 * A manifest as Kubernetes holds it: known fields, quantities by value, `resources: {}` and its like. `status` and
 * `creationTimestamp` are the API server's.
 */
function asHeld(value: Value): Value {
  if (!isMap(value)) return value;
  if (isList(value["items"])) return withItems(value, value["items"].map(asHeld));
  const type = workloadType(String(value["kind"] ?? "Pod"));
  if (type === undefined) return value;
  const typed: ValueMap = Object.assign(newMap(), decode(value, type).value);
  delete typed["status"];
  return typed;
}

function withItems(list: ValueMap, items: Value[]): ValueMap {
  const result: ValueMap = Object.assign(newMap(), list);
  result["items"] = items;
  delete result["metadata"];
  return result;
}

const STATUS = "sidecar.istio.io~1status";

function* differences(actual: Value, expected: Value, path: string): Generator<string> {
  if (isList(actual) && isList(expected)) return yield* pairs(byPlace(actual), byPlace(expected), path);
  if (isMap(actual) && isMap(expected)) return yield* pairs(actual, expected, path);
  if (path.endsWith(STATUS) && typeof actual === "string" && typeof expected === "string") {
    return yield* statusDifferences(actual, expected, path);
  }
  if (comparable(actual) !== comparable(expected)) yield `${path}: want ${shown(expected)}, got ${shown(actual)}`;
}

function byPlace(list: readonly Value[]): ValueMap {
  return Object.fromEntries(list.entries());
}

/** The order of keys does not matter, the order of list items does. */
function* pairs(actual: ValueMap, expected: ValueMap, path: string): Generator<string> {
  for (const key of new Set([...Object.keys(actual), ...Object.keys(expected)])) {
    const at = `${path}${path === "" ? "" : "/"}${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    const [mine, theirs] = [actual[key], expected[key]];
    if (mine === undefined) yield `${at}: want ${shown(theirs ?? null)}, got nothing`;
    else if (theirs === undefined) yield `${at}: want nothing, got ${shown(mine)}`;
    else yield* differences(mine, theirs, at);
  }
}

/** The tests of the releases replace the hash of the template by their own version, or by nothing. */
const NO_HASH = ["", "unit-test-fake-version"];

function* statusDifferences(actual: string, expected: string, path: string): Generator<string> {
  const [mine, theirs] = [actual, expected].map((text) => parseDocument({ text }).value);
  if (!isMap(mine) || !isMap(theirs)) return yield `${path}: want ${expected}, got ${actual}`;
  const hashed = !NO_HASH.includes(String(theirs["version"]));
  if (!/^[0-9a-f]{64}$/.test(String(mine["version"]))) yield `${path}: ${shown(mine["version"] ?? null)} is no SHA-256`;
  yield* pairs(hashed ? mine : { ...mine, version: "" }, hashed ? theirs : { ...theirs, version: "" }, path);
  if (Object.keys(mine)[0] !== "version") yield `${path}: version is not first`;
}

function comparable(value: Value): Value {
  return typeof value === "bigint" ? Number(value) : value;
}

function shown(value: Value): string {
  return JSON.stringify(value, (_key, item) => typeof item === "bigint" ? Number(item) : item);
}
