import { MeshError, type Place } from "../../base/errors.ts";
import { isMap, newMap, type Value, type ValueMap } from "../../base/value.ts";
import { type ParsedDocument, parseDocument, splitText } from "../../yaml/mod.ts";
import { checkMeshConfig } from "../validate/mesh.ts";
import { checkProxyConfig } from "../validate/proxy.ts";
import { defaultProxyConfig, type MeshConfig, type ProxyConfig, withDefaultProxyConfig } from "../config.ts";
import { decodeMessage, type Decoding, type FieldProblem } from "../decode/decode.ts";
import { defaultsOf } from "./defaults.ts";
import type { Era } from "../era.ts";
import { mergeMeshConfig, mergeProxyConfig } from "./merge.ts";
import { MESH_CONFIG, PROXY_CONFIG } from "../schema/schema.ts";

/** The name of the parsed text in messages. */
const MESH = "mesh configuration";
const PROXY = "proxy configuration";

/**
 * Parses a mesh configuration and adds the defaults of its era. The text is a MeshConfig in YAML or JSON, or a
 * ConfigMap that contains a MeshConfig under the key `mesh`. A text without a document returns the defaults.
 * Throws a MeshError with field paths and positions for values that have the wrong type or that Istio rejects.
 */
export function parseMeshConfig(text: string, file = "", era: Era = "current"): MeshConfig {
  const source = readSource(text, file, MESH);
  const inner = source === undefined ? undefined : insideConfigMap(source, file);
  const overlay = { era, data: decodeSource(inner, MESH_CONFIG, era, MESH) };
  const mesh = mergeMeshConfig(defaultsOf(era), overlay);
  refuse(checkMeshConfig(mesh.data).filter(({ field }) => isChecked(field, era)), MESH, inner);
  return mesh;
}

/**
 * Parses a proxy configuration in YAML or JSON, such as the annotation `proxy.istio.io/config`. Returns only the fields
 * that the text sets, for `mergeProxyConfig`.
 * Throws a MeshError with field paths and positions for values of the wrong type.
 */
export function parseProxyConfig(text: string, file = "", era: Era = "current"): ProxyConfig {
  return { era, data: decodeSource(readSource(text, file, PROXY), PROXY_CONFIG, era, PROXY) };
}

/**
 * Merges a pod's annotation `proxy.istio.io/config` into the mesh's `defaultConfig`. Throws the errors of
 * `parseProxyConfig`.
 */
export function applyProxyConfigAnnotation(mesh: MeshConfig, text: string): MeshConfig {
  const overlay = parseProxyConfig(text, "", mesh.era);
  return withDefaultProxyConfig(mesh, mergeProxyConfig(defaultProxyConfig(mesh), overlay));
}

/**
 * The wrong types in a `proxy.istio.io/config`, and the invalid values after it is merged into the defaults of the era.
 * Throws a MeshError for invalid YAML.
 */
export function proxyConfigProblems(text: string, era: Era): FieldProblem[] {
  const source = readSource(text, "", PROXY);
  const decoding: Decoding = { era, problems: [] };
  const data = decodeMessage(mapOf(source, PROXY), PROXY_CONFIG, decoding);
  const merged = mergeProxyConfig(defaultProxyConfig(defaultsOf(era)), { era, data });
  const checked = checkProxyConfig(merged.data).filter(({ field }) => isChecked(`defaultConfig.${field}`, era));
  return [...decoding.problems, ...checked];
}

/** Whether a field is checked in an era. 1.1 has no default for some required fields, so they are not checked there. */
function isChecked(field: string, era: Era): boolean {
  return era !== "1.1" || (field !== "defaultConfig.statusPort" && field !== "trustDomain");
}

/** The only document of a text; `undefined` for a text without a document. */
function readSource(text: string, file: string, what: string): ParsedDocument | undefined {
  const documents = splitText(text, file).map(parseDocument).filter((document) => document.value !== null);
  const second = documents[1];
  if (second === undefined) return documents[0];
  throw new MeshError(`The ${what} has more than one document`, { place: second.place([]) });
}

function insideConfigMap(source: ParsedDocument, file: string): ParsedDocument | undefined {
  const { value } = source;
  if (!isMap(value) || typeof value["kind"] !== "string") return source;
  if (value["kind"] !== "ConfigMap") {
    throw new MeshError(`A ${value["kind"]} is not a mesh configuration`, {
      place: { ...source.place([]) },
      hint: 'give a MeshConfig, or the ConfigMap that has one under the key "mesh"',
    });
  }
  const mesh = isMap(value["data"]) ? value["data"]["mesh"] : undefined;
  if (typeof mesh === "string") return readSource(mesh, file === "" ? 'key "mesh"' : `${file} (key "mesh")`, MESH);
  throw new MeshError('The ConfigMap has no string under the key "mesh"', {
    place: source.place(["data"]),
    hint: 'Give the ConfigMap "istio" of the control plane, or the mesh configuration itself',
  });
}

function mapOf(source: ParsedDocument | undefined, what: string): ValueMap {
  const value: Value = source?.value ?? newMap();
  if (isMap(value)) return value;
  throw new MeshError(`The ${what} must be a mapping`, source === undefined ? {} : { place: source.place([]) });
}

function decodeSource(source: ParsedDocument | undefined, name: string, era: Era, what: string): ValueMap {
  const decoding: Decoding = { era, problems: [] };
  const data = decodeMessage(mapOf(source, what), name, decoding);
  refuse(decoding.problems, what, source);
  return data;
}

function refuse(problems: readonly FieldProblem[], what: string, source: ParsedDocument | undefined): void {
  const [first] = problems;
  if (first === undefined) return;
  const texts = problems.map(({ field, text }) => `"${field}" ${text}`);
  const place: Place = source?.place(first.written ?? first.field.split(/[.[\]]+/)) ?? { field: first.field };
  throw new MeshError(`Invalid ${what}: ${texts.join("; ")}`, { place });
}
