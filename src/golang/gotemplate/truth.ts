import { isGoMap } from "./kind.ts";
import { GoInt, GoStruct, type GoValue } from "../go_value.ts";

/**
 * Whether a value is true for `if`, `and` and `not`. false, 0, nil and empty values are false. A struct is always true,
 * a nil pointer false, an enum true unless its number is 0. `undefined` is the missing value.
 */
export function truth(value: GoValue | undefined): boolean {
  switch (typeof value) {
    case "boolean":
      return value;
    case "string":
      return value !== "";
    case "bigint":
      return value !== 0n;
    case "number":
      return value !== 0;
    case "object":
      return value !== null && objectTruth(value);
    default:
      return value !== undefined;
  }
}

function objectTruth(value: Exclude<GoValue, null>): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (value instanceof GoStruct) return !value.isNil && value.integer()?.value !== 0n;
  if (value instanceof GoInt) return value.value !== 0n;
  return isGoMap(value) && hasKeys(value);
}

function hasKeys(map: object): boolean {
  for (const key in map) if (Object.hasOwn(map, key)) return true;
  return false;
}
