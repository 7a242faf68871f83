/** The fields of mesh and proxy configuration as types, from the schema: a misspelled one is a type error. */
import type { Value } from "../../base/value.ts";
import type { MESSAGES } from "./schema_data.ts";

/** `fileFlushInterval` of `file_flush_interval`: proto3's JSON name. */
type JsonName<Proto extends string> = Proto extends `${infer Head}_${infer Rest}`
  ? `${Head}${Capitalize<JsonName<Rest>>}`
  : Proto;

type NameOf<Field extends string> = Field extends `${infer Proto} ${string}` ? JsonName<Proto> : never;

/** The names in a line of the schema: `name kind;name kind`. */
type NamesIn<Fields extends string, Known = never> = Fields extends `${infer Field};${infer Rest}`
  ? NamesIn<Rest, Known | NameOf<Field>>
  : Known | NameOf<Fields>;

type MessageName = keyof typeof MESSAGES;

/** The data of a message by JSON names. */
type DataOf<Name extends MessageName, Legacy extends string> = {
  readonly [name in NamesIn<typeof MESSAGES[Name]> | Legacy]?: Value;
};

/** A `MeshConfig`, with fields of earlier releases that their injector reads. */
export type MeshData = DataOf<"v1alpha1.MeshConfig", "sdsUdsPath" | "enableSdsTokenMount">;

/** A `ProxyConfig`, with fields of earlier releases that the agent still reads. */
export type ProxyData = DataOf<"v1alpha1.ProxyConfig", "parentShutdownDuration">;
