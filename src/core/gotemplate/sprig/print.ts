/** Values as text inside sprig's functions. */
import { sprint } from "../fmt/print.ts";
import type { GoValue } from "../value.ts";

/** `%v` of a value: `<nil>` for nil. */
export function stringOf(value: GoValue): string {
  return sprint(value);
}

/** A string as it is, any other value as `%v`. */
export function plainText(value: GoValue): string {
  return typeof value === "string" ? value : sprint(value);
}
