import { closest } from "../../base/text/mod.ts";
import { isList, isMap, type Value, type ValueMap } from "../../base/value.ts";
import type { MeshConfig, ProxyConfig } from "../config.ts";
import type { Era } from "../era.ts";
import { type Field, MESH_CONFIG, messageType, PROXY_CONFIG } from "../schema/schema.ts";

/** A field that the message type does not have. Istio ignores such a field. */
export interface UnknownField {
  /** The path of the field, such as `defaultConfig.drainDurations`. */
  readonly field: string;
  /** The most similar known name, if any. */
  readonly meant: string | undefined;
}

/** The fields in a mesh configuration that its era does not know. */
export function unknownMeshFields({ data, era }: MeshConfig): readonly UnknownField[] {
  return inMessage(data, MESH_CONFIG, era, "");
}

/** The fields in a proxy configuration that its era does not know. */
export function unknownProxyFields({ data, era }: ProxyConfig): readonly UnknownField[] {
  return inMessage(data, PROXY_CONFIG, era, "");
}

function inMessage(data: ValueMap, name: string, era: Era, path: string): readonly UnknownField[] {
  const message = messageType(name, era);
  return Object.entries(data).flatMap(([key, value]) => {
    const at = path === "" ? key : `${path}.${key}`;
    const field = message.byKey.get(key);
    if (field !== undefined) return inField(value, field, era, at);
    return [{ field: at, meant: closest(key, message.fields.map(({ json }) => json)) }];
  });
}

function inField(value: Value, { kind, shape }: Field, era: Era, path: string): readonly UnknownField[] {
  if (kind.is !== "message") return [];
  const parts: readonly [string, Value][] = shape === "list" && isList(value)
    ? value.map((item, index) => [`${path}[${index}]`, item])
    : shape === "map" && isMap(value)
    ? Object.entries(value).map(([key, item]) => [`${path}.${key}`, item])
    : [[path, value]];
  return parts.flatMap(([at, part]) => isMap(part) ? inMessage(part, kind.name, era, at) : []);
}
