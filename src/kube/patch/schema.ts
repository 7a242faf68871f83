import { PatchError } from "./error.ts";
import { type Field, type FieldType, findField, structSchema } from "../schema/schema.ts";

export interface ListRule {
  readonly merges: boolean;
  readonly mergeKey: string;
  readonly element: FieldType;
}

/** Go's names of the structs without JSON fields. */
const LEAF_STRUCTS: Readonly<Record<string, string>> = {
  quantity: "Quantity",
  intOrString: "IntOrString",
  time: "Time",
  json: "RawExtension",
};

/** Returns the type of a struct in the schema table. */
export function structType(name: string): FieldType {
  return { kind: "struct", struct: name, text: name, pointer: false };
}

/** Returns the Go kind of a type, for errors. */
export function goKind(type: FieldType): string {
  if (type.kind in LEAF_STRUCTS) return "struct";
  return type.kind === "list" ? "slice" : type.kind;
}

/**
 * Returns the merge rule of a list field. Throws a PatchError if the type lacks the field, or the field is not a list.
 */
export function listField(parent: FieldType, key: string): ListRule {
  const { type, mergesList, mergeKey } = patchField(parent, key);
  if (type.kind === "list") return { merges: mergesList, mergeKey, element: type.element };
  if (type.pointer) return { merges: mergesList, mergeKey, element: { ...type, pointer: false } };
  throw new PatchError(`expected slice or array type, but got: ${parent.pointer ? "ptr" : goKind(parent)}`);
}

/** Returns the field of a struct. Throws a PatchError if the type lacks the field. */
export function patchField(parent: FieldType, key: string): Field {
  if (parent.kind !== "struct" && !(parent.kind in LEAF_STRUCTS)) {
    throw new PatchError(`merging an object in json but data type is not struct, instead is: ${goKind(parent)}`);
  }
  const field = parent.kind === "struct" ? findField(structSchema(parent.struct), key) : undefined;
  if (field !== undefined) return field;
  const name = parent.kind === "struct" ? parent.struct.replace("openshift.", "") : LEAF_STRUCTS[parent.kind];
  throw new PatchError(`unable to find api field in struct ${name} for the json field ${JSON.stringify(key)}`);
}
