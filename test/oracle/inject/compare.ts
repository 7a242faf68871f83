/** Compares injected manifests as typed objects. */
import { compareQuantities, decode, parseQuantity, toGoJson } from "../../../src/kube/mod.ts";
import { DATA } from "../../support/cases/comparable.ts";
import { workloadType } from "../../support/workload_type.ts";
import { isList, isMap, newMap, type Value } from "../../../src/base/value.ts";
import { parseDocument, parseYaml, splitText } from "../../../src/yaml/mod.ts";

/** Returns the documents in a text as JSON data: typed objects without their status. */
export function documents(text: string): unknown[] {
  return splitText(text, "").map((doc) => parseDocument(doc).value).filter((value) => value !== null).map(document);
}

function document(value: Value): unknown {
  if (!isMap(value)) return value;
  if (value["kind"] === "List") return isList(value["items"]) ? value["items"].map(document) : [];
  const type = workloadType(String(value["kind"]));
  if (type === undefined) return value;
  const { status: _, ...typed } = decode(value, type).value;
  return read(JSON.parse(toGoJson(typed, type)));
}

/** Parses embedded JSON and YAML. */
function read(value: unknown, key = ""): unknown {
  if (typeof value === "string") return DATA.has(key) ? data(value, key) : value;
  if (Array.isArray(value)) return value.map((item) => read(item));
  if (typeof value !== "object" || value === null) return value;
  const named = "name" in value && typeof value.name === "string" && DATA.has(value.name) ? value.name : "";
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, read(item, name === "value" ? named : name)]),
  );
}

function data(text: string, key: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return key === "proxy.istio.io/overrides" ? containers(text) : value;
  } catch {
    return text;
  }
}

/** Decodes containers in an annotation as Kubernetes would store them. */
function containers(text: string): unknown {
  const pod = newMap();
  pod["spec"] = parseYaml(text, "");
  return JSON.parse(toGoJson(decode(pod, "Pod").value, "Pod"));
}

/** Returns the differences between two values, as lines `path: want ..., got ...`. */
export function differences(want: unknown, got: unknown, at = ""): string[] {
  if (Array.isArray(want) && Array.isArray(got)) return itemDifferences(want, got, at);
  if (isObject(want) && isObject(got)) {
    const keys = [...new Set([...Object.keys(want), ...Object.keys(got)])].sort();
    return keys.flatMap((key) => differences(want[key], got[key], `${at}/${key}`));
  }
  return same(want, got, at) ? [] : [`${at}: want ${JSON.stringify(want)}, got ${JSON.stringify(got)}`];
}

function itemDifferences(want: readonly unknown[], got: readonly unknown[], at: string): string[] {
  const found: string[] = [];
  for (let i = 0; i < Math.max(want.length, got.length); i++) {
    found.push(...differences(want[i], got[i], `${at}/${nameOf(want[i]) ?? i}`));
  }
  return found;
}

function nameOf(item: unknown): string | undefined {
  return isObject(item) && typeof item["name"] === "string" ? item["name"] : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Compares quantities by value, because the API server normalizes them. */
function same(want: unknown, got: unknown, at: string): boolean {
  if (want === got) return true;
  if (typeof want !== "string" || typeof got !== "string" || !/\/(requests|limits|sizeLimit|divisor)/.test(at)) {
    return false;
  }
  const [a, b] = [parseQuantity(want), parseQuantity(got)];
  return a !== undefined && b !== undefined && compareQuantities(a, b) === 0;
}
