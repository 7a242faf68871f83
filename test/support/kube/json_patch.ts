/** Applies JSON patches strictly (RFC 6902): an operation that cannot be applied is an error. */
import { copyValue } from "../../../src/base/values/mod.ts";
import { isList, isMap, type Value } from "../../../src/base/value.ts";

/** An operation in a patch. This program never writes `move`, `copy` and `test`. */
export interface Operation {
  readonly op: string;
  readonly path: string;
  readonly value?: Value;
}

/** Applies the operations in order and returns the new value. The old value does not change. */
export function applyPatch(value: Value, operations: readonly Operation[]): Value {
  return operations.reduce(applyOne, copyValue(value));
}

function applyOne(root: Value, { op, path, value }: Operation): Value {
  if (op !== "remove" && value === undefined) throw new Error(`"${op}" of "${path}" has no value`);
  const fresh = copyValue(value ?? null);
  if (path === "") return op === "remove" ? null : fresh;
  const parts = path.split("/").slice(1).map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
  const last = parts.pop() ?? "";
  const parent = parts.reduce(child, root);
  if (isList(parent)) editList(parent, { op, part: last, value: fresh });
  else editMap(parent, { op, part: last, value: fresh });
  return root;
}

interface Edit {
  readonly op: string;
  readonly part: string;
  readonly value: Value;
}

function child(parent: Value, part: string): Value {
  if (isList(parent)) return parent[index(part, parent.length - 1)] ?? null;
  if (isMap(parent) && Object.hasOwn(parent, part)) return parent[part] ?? null;
  throw new Error(`there is no "${part}"`);
}

function index(part: string, greatest: number): number {
  if (!/^(0|[1-9]\d*)$/.test(part) || Number(part) > greatest) {
    throw new Error(`"${part}" is no index up to ${greatest}`);
  }
  return Number(part);
}

function editList(list: Value[], { op, part, value }: Edit): void {
  if (op === "add") list.splice(part === "-" ? list.length : index(part, list.length), 0, value);
  else if (op === "replace") list[index(part, list.length - 1)] = value;
  else if (op === "remove") list.splice(index(part, list.length - 1), 1);
  else throw new Error(`unknown operation "${op}"`);
}

function editMap(map: Value, { op, part, value }: Edit): void {
  if (!isMap(map)) throw new Error(`"${part}" is in no object`);
  if (op !== "add" && !Object.hasOwn(map, part)) throw new Error(`there is no "${part}"`);
  if (op === "remove") delete map[part];
  else if (op === "add" || op === "replace") map[part] = value;
  else throw new Error(`unknown operation "${op}"`);
}
