/** Checks untrusted data against a shape, and finds the first value of a wrong type. */
import { isList, isMap, type Value, type ValueMap } from "../../base/value.ts";

/** A string, a number, a list, a mapping, or an object with named fields. A field whose name ends with `?` is optional. */
export type Shape =
  | Leaf
  | { readonly is: Shape; readonly about: string }
  | { readonly list: Shape }
  | { readonly map: Shape }
  | { readonly either: readonly [Shape, Shape] }
  | { readonly fields: Readonly<Record<string, Shape>> };

type Leaf = "any" | "text" | "number" | { readonly only: string };

/** A value of a wrong type: its field, and the expected type. */
export interface WrongShape {
  readonly field: string;
  /** The expected type in words, such as `a list`. */
  readonly expected: string;
}

/** Returns the first value that does not match the shape; `undefined` if all match. Ignores fields that the shape lacks. */
export function wrongIn(value: Value, shape: Shape, field = ""): WrongShape | undefined {
  if (typeof shape === "string" || "only" in shape) return wrongLeaf(value, shape, field);
  if ("is" in shape) return wrongIn(value, shape.is, field);
  if ("either" in shape) return wrongIn(value, shape.either[0], field) && wrongIn(value, shape.either[1], field);
  if ("list" in shape) return wrongInList(value, shape.list, field);
  if (!isMap(value)) return { field, expected: "a mapping" };
  return "map" in shape
    ? first(Object.entries(value).map(([key, item]) => () => wrongIn(item, shape.map, inner(field, key))))
    : wrongInFields(value, shape.fields, field);
}

function wrongLeaf(value: Value, shape: Leaf, field: string): WrongShape | undefined {
  if (typeof shape === "object") return value === shape.only ? undefined : { field, expected: `"${shape.only}"` };
  if (shape === "text") return typeof value === "string" ? undefined : { field, expected: "a string" };
  return shape === "any" || typeof value === "number" ? undefined : { field, expected: "a number" };
}

function wrongInList(value: Value, shape: Shape, field: string): WrongShape | undefined {
  if (!isList(value)) return { field, expected: "a list" };
  return first(value.map((item, index) => () => wrongIn(item, shape, `${field}[${index}]`)));
}

function wrongInFields(map: ValueMap, fields: Readonly<Record<string, Shape>>, field: string): WrongShape | undefined {
  return first(
    Object.entries(fields).map(([spelled, shape]) => () => {
      const key = spelled.replace(/\?$/, "");
      const item = map[key] ?? null;
      return item === null && spelled !== key ? undefined : wrongIn(item, shape, inner(field, key));
    }),
  );
}

function inner(field: string, key: string): string {
  return field === "" ? key : `${field}.${key}`;
}

function first(checks: readonly (() => WrongShape | undefined)[]): WrongShape | undefined {
  for (const check of checks) {
    const wrong = check();
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}
