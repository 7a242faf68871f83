/** Type names of Envoy's extensions (https://www.envoyproxy.io/docs/envoy/latest/api-v3). */
import type { ValueMap } from "../../../base/value.ts";

const PREFIX = "type.googleapis.com/";

/** Returns the `@type` of a message in Envoy's API; `name` leaves out the prefix `envoy.`. */
export function envoyType(name: string): string {
  return `${PREFIX}envoy.${name}`;
}

/** Wraps a configuration as plain data, for types that the running Envoy may not know. */
export function typedStruct(typeUrl: string, value: ValueMap) {
  return { "@type": `${PREFIX}udpa.type.v1.TypedStruct`, type_url: `${PREFIX}${typeUrl}`, value };
}
