import { isGoMap, typeOf } from "../kind.ts";
import { type GoFunc, type GoMap, GoStruct, typed, typeTag } from "../../go_value.ts";
import type { Slot, State } from "./state.ts";

/** Reads a field, key or method `name` of a receiver. A missing key, and any field of it, is a missing value. */
export function readField(state: State, receiver: Slot, name: string): Slot {
  if (isGoMap(receiver)) return Object.hasOwn(receiver, name) ? receiver[name] : undefined;
  if (receiver instanceof GoStruct) return structField(state, receiver, name);
  if (receiver === null) throw state.fail(`nil pointer evaluating interface {}.${name}`);
  if (receiver === undefined) return undefined;
  throw state.fail(`can't evaluate field ${name} in type ${typeOf(receiver)}`);
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
