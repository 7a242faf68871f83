import { isGoMap, typeOf } from "../kind.ts";
import { type GoFunc, type GoMap, GoStruct, typed, typeTag } from "../../go_value.ts";
import type { MissingKey, Slot, State } from "./state.ts";

/** Reads a field, key or method `name` of a receiver. */
export type FieldReader = (state: State, receiver: Slot, name: string) => Slot;

/** Returns the field reader for a `missingkey` option. */
export function fieldReader(missingKey: MissingKey): FieldReader {
  return (state, receiver, name) => {
    if (isGoMap(receiver)) {
      if (Object.hasOwn(receiver, name)) return receiver[name];
      return missingKey === "default" ? undefined : missing(state, receiver, name, missingKey);
    }
    if (receiver instanceof GoStruct) return structField(state, receiver, name);
    if (receiver === null) throw state.fail(`nil pointer evaluating interface {}.${name}`);
    if (receiver !== undefined) throw state.fail(`can't evaluate field ${name} in type ${typeOf(receiver)}`);
    if (missingKey === "error") throw state.fail(`nil data; no entry for key ${JSON.stringify(name)}`);
    return undefined;
  };
}

function missing(state: State, map: GoMap, name: string, missingKey: MissingKey): Slot {
  if (missingKey === "error") throw state.fail(`map has no entry for key ${JSON.stringify(name)}`);
  return elementZero(map);
}

/** The zero value of a map's element type: what `index` yields for a missing key. */
export function elementZero(map: GoMap): Slot {
  const tag = typeTag(map);
  return tag === undefined ? null : zeroOf(tag.slice(tag.indexOf("]") + 1));
}

/** The zero value of a Go type that can occur in a template. */
export function zeroOf(type: string): Slot {
  if (type === "reflect.Value") return undefined;
  if (type === "string") return "";
  if (type === "int") return 0n;
  if (type === "float64") return 0;
  if (type === "bool") return false;
  if (type.startsWith("map[")) return typed({}, type);
  return type.startsWith("[]") ? typed([], type) : null;
}

function structField(state: State, receiver: GoStruct, name: string): Slot {
  if (receiver.isNil && receiver.fieldNames().includes(name)) {
    throw state.fail(`nil pointer evaluating ${receiver.goType}.${name}`);
  }
  const value = receiver.get(name);
  if (value === undefined) throw state.fail(`can't evaluate field ${name} in type ${receiver.goType}`);
  return value;
}

/** Whether the value of a field is a method. */
export function isMethod(value: Slot): value is GoFunc {
  return typeof value === "function";
}
