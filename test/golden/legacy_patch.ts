/** JSON patches (RFC 6902) with the three operations of Istio's webhooks. */
import { isList, isMap, newMap, type Value, type ValueMap } from "../../src/core/value.ts";

/** An operation of a patch. */
export interface Operation {
  readonly op: "add" | "remove" | "replace";
  readonly path: string;
  readonly value?: Value;
}

/** Applies all operations to a copy. Throws for a missing path. */
export function applyPatch(document: Value, operations: readonly Operation[]): Value {
  return operations.reduce((result, operation) => applyAt(result, pointer(operation.path), operation), document);
}

function pointer(path: string): readonly string[] {
  return path.split("/").slice(1).map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function applyAt(target: Value, path: readonly string[], operation: Operation): Value {
  const [key = "", ...rest] = path;
  if (isList(target)) return applyToList(target, key, { rest, operation });
  if (!isMap(target)) throw new Error(`${operation.path} is not in the document`);
  return applyToMap(target, key, { rest, operation });
}

interface Rest {
  readonly rest: readonly string[];
  readonly operation: Operation;
}

function applyToList(list: readonly Value[], key: string, { rest, operation }: Rest): Value[] {
  const index = key === "-" ? list.length : Number(key);
  const [before, at, after] = [list.slice(0, index), list[index], list.slice(index + 1)];
  if (rest.length === 0 && operation.op === "add") return [...before, operation.value ?? null, ...list.slice(index)];
  if (at === undefined) throw new Error(`${operation.path} is not in the document`);
  if (rest.length > 0) return [...before, applyAt(at, rest, operation), ...after];
  return operation.op === "remove" ? [...before, ...after] : [...before, operation.value ?? null, ...after];
}

function applyToMap(map: ValueMap, key: string, { rest, operation }: Rest): ValueMap {
  const at = map[key];
  if (at === undefined && (rest.length > 0 || operation.op !== "add")) {
    throw new Error(`${operation.path} is not in the document`);
  }
  const result: ValueMap = Object.assign(newMap(), map);
  if (rest.length > 0) result[key] = applyAt(at ?? null, rest, operation);
  else if (operation.op === "remove") delete result[key];
  else result[key] = operation.value ?? null;
  return result;
}
