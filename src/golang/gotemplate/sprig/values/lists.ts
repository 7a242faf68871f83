/** sprig's functions on lists. The functions do not change their arguments. */
import { asNil, goJson } from "../../../go_json.ts";
import { deepEqual } from "./reflect.ts";
import { isList, kindOf } from "../../kind.ts";
import { type FuncMap, type GoFunc, type GoValue, pure, typed, typeTag } from "../../../go_value.ts";
import { ANY, attempt, INT, int } from "../args.ts";
import { toInt64 } from "./cast.ts";
import { empty } from "./defaults.ts";

type ListBody = (list: readonly GoValue[], ...rest: GoValue[]) => GoValue;

/** Returns the list functions by name. Each function has a `must` variant with the same errors. */
export function listFunctions(): FuncMap {
  const list = pure([ANY], (...all) => all, true);
  return {
    list,
    tuple: list,
    concat: pure(
      [ANY],
      (...lists) => orNil(lists.flatMap((v) => listArgument(v, "Cannot concat type", " as list"))),
      true,
    ),
    ...twins(["append", "push"], onList("Cannot push on type", [ANY], (l, v = null) => [...l, v])),
    ...twins(["prepend"], onList("Cannot prepend on type", [ANY], (l, v = null) => [v, ...l])),
    ...twins(["first"], onList("Cannot find first on type", [], (l) => l[0] ?? null)),
    ...twins(["last"], onList("Cannot find last on type", [], (l) => l.at(-1) ?? null)),
    ...twins(["rest"], onList("Cannot find rest on type", [], (l) => orNil(l.slice(1), l))),
    ...twins(["initial"], onList("Cannot find initial on type", [], (l) => orNil(l.slice(0, -1), l))),
    ...twins(["reverse"], onList("Cannot find reverse on type", [], (l) => [...l].reverse())),
    ...twins(["compact"], onList("Cannot compact on type", [], (l) => l.filter((v) => !empty(v)))),
    ...twins(["uniq"], onList("Cannot find uniq on type", [], uniq)),
    ...twins(
      ["without"],
      onList("Cannot find without on type", [ANY], (l, ...omit) => l.filter((v) => !holds(omit, v)), true),
    ),
    ...twins(["has"], pure([ANY, ANY], has)),
    ...twins(["slice"], pure([ANY, ANY], slice, true)),
    ...twins(["chunk"], pure([INT, ANY], (size, l) => chunk(int(size), listArgument(l, "Cannot chunk type")))),
  };
}

function twins(names: readonly string[], body: GoFunc): Record<string, GoFunc> {
  const pairs = names.flatMap((name) => [[name, body], [`must${name.charAt(0).toUpperCase()}${name.slice(1)}`, body]]);
  return Object.fromEntries(pairs);
}

function onList(problem: string, more: readonly string[], body: ListBody, variadic = false): GoFunc {
  return pure([ANY, ...more], (l, ...rest) => body(listArgument(l ?? null, problem), ...rest), variadic);
}

/** Reads a list argument. Throws sprig's text for other values, and Go's text of a nil dereference for nil. */
function listArgument(value: GoValue, problem: string, rest = ""): readonly GoValue[] {
  if (isList(value)) return value;
  if (value === null) throw new Error("runtime error: invalid memory address or nil pointer dereference");
  throw new Error(`${problem} ${kindOf(value)}${rest}`);
}

/** Returns `list`, or Go's nil slice (printed as `[]`, `null` in JSON) if `from` (default: `list`) is empty. */
function orNil(list: readonly GoValue[], from: readonly GoValue[] = list): readonly GoValue[] {
  return from.length === 0 ? asNil([]) : list;
}

function holds(list: readonly GoValue[], value: GoValue): boolean {
  return list.some((item) => deepEqual(item, value));
}

function uniq(list: readonly GoValue[]): GoValue {
  const kept: GoValue[] = [];
  const known = new Map<GoValue, GoValue[]>();
  for (const item of list) {
    // Equal values have the same JSON text. All values without JSON, such as functions, share one key.
    const key = attempt(() => goJson(item), "");
    const alike = known.get(key) ?? [];
    if (holds(alike, item)) continue;
    alike.push(item);
    known.set(key, alike);
    kept.push(item);
  }
  return kept;
}

function has(needle: GoValue, haystack: GoValue): boolean {
  return haystack !== null && holds(listArgument(haystack, "Cannot find has on type"), needle);
}

function slice(value: GoValue, ...indices: GoValue[]): GoValue {
  const list = listArgument(value, "list should be type of slice or array but");
  if (list.length === 0) return null;
  const start = Number(toInt64(indices[0] ?? 0n));
  const end = indices.length < 2 ? list.length : Number(toInt64(indices[1]));
  if (start < 0 || end < start || end > list.length) throw new Error("reflect.Value.Slice: slice index out of bounds");
  const tag = typeTag(list);
  return tag === undefined ? list.slice(start, end) : typed(list.slice(start, end), tag);
}

function chunk(size: number, list: readonly GoValue[]): GoValue {
  if (size < 1 && list.length > 0) throw new Error("runtime error: makeslice: len out of range");
  const chunks: GoValue[] = [];
  for (let at = 0; at < list.length; at += size) chunks.push(list.slice(at, at + size));
  return typed(chunks, "[][]interface {}");
}
