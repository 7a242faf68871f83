/** Types of mesh and proxy configuration, derived from the schema, so that a misspelled field is a type error. */
import type { Value } from "../../base/value.ts";
import type { MESSAGES } from "./schema_data.ts";

/** The proto3 JSON name of a proto name: `fileFlushInterval` for `file_flush_interval`. */
type JsonName<Proto extends string> = Proto extends `${infer Head}_${infer Rest}`
  ? `${Head}${Capitalize<JsonName<Rest>>}`
  : Proto;

type NameOf<Field extends string> = Field extends `${infer Proto} ${string}` ? JsonName<Proto> : never;

/** The type of the names in a line of the schema, such as `name kind;name kind`. */
type NamesIn<Fields extends string, Known = never> = Fields extends `${infer Field};${infer Rest}`
  ? NamesIn<Rest, Known | NameOf<Field>>
  : Known | NameOf<Fields>;

type MessageName = keyof typeof MESSAGES;

/** The type of a decoded message, with fields by JSON names. */
type DataOf<Name extends MessageName, Legacy extends string> = {
  readonly [name in NamesIn<typeof MESSAGES[Name]> | Legacy]?: Value;
};

/** A `MeshConfig`, including fields of earlier releases that the injectors of those releases read. */
export type MeshData = DataOf<"v1alpha1.MeshConfig", "sdsUdsPath" | "enableSdsTokenMount">;

/** A `ProxyConfig`, including fields of earlier releases that the agent still reads. */
export type ProxyData = DataOf<"v1alpha1.ProxyConfig", "parentShutdownDuration">;
