/** sprig's functions on types, with reflect.DeepEqual and a deep copy of values. */
import { isNilList } from "../../../go_json.ts";
import { isGoMap, isList, kindOf, typeOf } from "../../kind.ts";
import { type FuncMap, GoInt, type GoMap, GoStruct, type GoValue, pure, typed, typeTag } from "../../../go_value.ts";
import { ANY, STRING, text } from "../args.ts";

/** Returns the functions of this file by name. */
export function reflectFunctions(): FuncMap {
  return {
    typeOf: pure([ANY], typeOf),
    typeIs: pure([STRING, ANY], (type, value) => text(type) === typeOf(value)),
    typeIsLike: pure([STRING, ANY], (type, value) => [text(type), `*${text(type)}`].includes(typeOf(value))),
    kindOf: pure([ANY], kindOf),
    kindIs: pure([STRING, ANY], (kind, value) => text(kind) === kindOf(value)),
    deepEqual: pure([ANY, ANY], deepEqual),
  };
}

/** Whether two values have the same type and the same content. NaN is not equal to any value, nor are functions. */
export function deepEqual(a: GoValue, b: GoValue): boolean {
  if (!isObject(a) || !isObject(b)) return typeof a !== "function" && a === b;
  return typeOf(a) === typeOf(b) && equalObjects(a, b);
}

type GoObject = Extract<GoValue, object>;

function isObject(value: GoValue): value is GoObject {
  return typeof value === "object" && value !== null;
}

function equalObjects(a: GoObject, b: GoObject): boolean {
  if (a instanceof GoInt) return b instanceof GoInt && a.value === b.value;
  if (a instanceof GoStruct) return b instanceof GoStruct && (a === b || equalFields(a, b));
  if (isList(a)) return isList(b) && equalLists(a, b);
  return isGoMap(a) && isGoMap(b) && equalMaps(a, b);
}

/** Compares lists. A nil slice differs from an empty slice. */
function equalLists(a: readonly GoValue[], b: readonly GoValue[]): boolean {
  if (a.length !== b.length || isNilList(a) !== isNilList(b)) return false;
  return a.every((item, index) => deepEqual(item, b[index] ?? null));
}

function equalFields(a: GoStruct, b: GoStruct): boolean {
  if (a.isNil || b.isNil) return a.isNil && b.isNil;
  if (a.text() !== b.text()) return false;
  return a.fieldNames().every((name) => deepEqual(a.get(name) ?? null, b.get(name) ?? null));
}

function equalMaps(a: GoMap, b: GoMap): boolean {
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && deepEqual(a[key] ?? null, b[key] ?? null));
}

/** Copies all nested lists and maps. Structs are read-only and are not copied. */
export function deepCopy(value: GoValue): GoValue {
  if (isList(value)) return sameType(value.map(deepCopy), value);
  if (!isGoMap(value)) return value;
  const copy: Record<string, GoValue> = Object.create(null);
  for (const [key, item] of Object.entries(value)) copy[key] = deepCopy(item);
  return sameType(copy, value);
}

function sameType<T extends readonly GoValue[] | GoMap>(copy: T, original: readonly GoValue[] | GoMap): T {
  const tag = typeTag(original);
  return tag === undefined ? copy : typed(copy, tag);
}
