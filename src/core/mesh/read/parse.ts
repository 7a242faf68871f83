import { MeshError, type Place } from "../../errors.ts";
import { isMap, newMap, type Value, type ValueMap } from "../../value.ts";
import { type ParsedDocument, parseDocument, splitText } from "../../yaml/mod.ts";
import { checkMeshConfig } from "../validate/mesh.ts";
import { checkProxyConfig } from "../validate/proxy.ts";
import { defaultProxyConfig, type MeshConfig, type ProxyConfig, withDefaultProxyConfig } from "../config.ts";
import { decodeMessage, type Decoding, type FieldProblem } from "./decode.ts";
import { defaultsOf } from "./defaults.ts";
import type { Era } from "../era.ts";
import { mergeMeshConfig, mergeProxyConfig } from "./merge.ts";
import { MESH_CONFIG, PROXY_CONFIG } from "../schema/schema.ts";

/** What people call the text that is read. */
const MESH = "mesh configuration";
const PROXY = "proxy configuration";

/**
 * A mesh configuration over the defaults of its era: YAML or JSON of a MeshConfig, or a ConfigMap that has one under the
 * key `mesh`; a text without a document gives the defaults.
 * Errors: MeshError with the field paths and the place for values of the wrong type or beyond what Istio accepts.
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
 * A proxy configuration as it is written, YAML or JSON, such as the annotation `proxy.istio.io/config`: only what the
 * text sets, to be merged over another by `mergeProxyConfig`.
 * Errors: MeshError with the field paths and the place for values of the wrong type.
 */
export function parseProxyConfig(text: string, file = "", era: Era = "current"): ProxyConfig {
  return { era, data: decodeSource(readSource(text, file, PROXY), PROXY_CONFIG, era, PROXY) };
}

/**
 * The mesh configuration with the annotation `proxy.istio.io/config` of a pod merged over what every proxy gets.
 * Errors: as `parseProxyConfig`.
 */
export function applyProxyConfigAnnotation(mesh: MeshConfig, text: string): MeshConfig {
  const overlay = parseProxyConfig(text, "", mesh.era);
  return withDefaultProxyConfig(mesh, mergeProxyConfig(defaultProxyConfig(mesh), overlay));
}

/**
 * What is wrong with a `proxy.istio.io/config` by itself, that is over the defaults of the era: wrong types as well as
 * wrong values; empty if nothing is. Errors: MeshError for a text that is no YAML.
 */
export function proxyConfigProblems(text: string, era: Era): FieldProblem[] {
  const source = readSource(text, "", PROXY);
  const decoding: Decoding = { era, problems: [] };
  const data = decodeMessage(mapOf(source, PROXY), PROXY_CONFIG, decoding);
  const merged = mergeProxyConfig(defaultProxyConfig(defaultsOf(era)), { era, data });
  const checked = checkProxyConfig(merged.data).filter(({ field }) => isChecked(`defaultConfig.${field}`, era));
  return [...decoding.problems, ...checked];
}

/** What 1.1 did not have a default for cannot be asked of its configurations. */
function isChecked(field: string, era: Era): boolean {
  return era !== "1.1" || (field !== "defaultConfig.statusPort" && field !== "trustDomain");
}

/** The one document of a text, `undefined` if it has none. */
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
    throw new MeshError(`This is no mesh configuration: it is a ${value["kind"]}`, {
      place: { ...source.place([]) },
      hint: 'give a MeshConfig, or the ConfigMap that has one under the key "mesh"',
    });
  }
  const mesh = isMap(value["data"]) ? value["data"]["mesh"] : undefined;
  if (typeof mesh === "string") return readSource(mesh, file === "" ? 'key "mesh"' : `${file} (key "mesh")`, MESH);
  throw new MeshError('The ConfigMap has no text under the key "mesh"', {
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
