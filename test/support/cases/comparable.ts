/** Compares manifests by their meaning for Kubernetes. */
import { decode } from "../../../src/kube/mod.ts";
import { isList, isMap, newMap, type Value, type ValueMap } from "../../../src/base/value.ts";
import { parseDocument } from "../../../src/yaml/mod.ts";

/** Annotations and variables that contain JSON or YAML. They are compared by parsed value. */
export const DATA: ReadonlySet<string> = new Set([
  "sidecar.istio.io/status",
  "proxy.istio.io/overrides",
  "k8s.v1.cni.cncf.io/networks",
  "PROXY_CONFIG",
  "ISTIO_META_POD_PORTS",
  "ISTIO_KUBE_APP_PROBERS",
  "ISTIO_PROMETHEUS_ANNOTATIONS",
  "ISTIO_METAJSON_ANNOTATIONS",
]);

/** Converts a value to plain data: embedded JSON and YAML is parsed, and empty values are left out. */
export function comparable(value: Value): unknown {
  if (isList(value)) return value.map(comparable);
  if (!isMap(value)) return typeof value === "bigint" ? Number(value) : value;
  const result: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(readTexts(value))) {
    const inner = comparable(item);
    if (!isEmpty(inner)) result[key] = inner;
  }
  return result;
}

function isEmpty(value: unknown): boolean {
  if (value === "" || value === null) return true;
  return typeof value === "object" && Object.keys(value ?? {}).length === 0;
}

/** Parses the JSON or YAML in `name`/`value` pairs and annotations. */
function readTexts(map: ValueMap): ValueMap {
  const result: ValueMap = Object.assign(newMap(), map);
  for (const [key, item] of Object.entries(map)) if (DATA.has(key)) result[key] = data(item);
  if (typeof map["name"] === "string" && DATA.has(map["name"])) result["value"] = data(map["value"] ?? null);
  const overrides = result["proxy.istio.io/overrides"];
  if (isMap(overrides)) result["proxy.istio.io/overrides"] = decode({ spec: overrides }, "Pod").value;
  return result;
}

function data(text: Value): Value {
  return typeof text === "string" ? parseDocument({ text }).value : text;
}
