import { sprint, sprintAll } from "../fmt/print.ts";
import { isPointer } from "../kind.ts";
import { GoStruct, type GoValue } from "../../go_value.ts";
import type { Slot } from "./state.ts";

/**
 * The text that an action prints: `<no value>` for a missing value, and the target of a pointer instead of the pointer.
 */
export function display(value: Slot): string {
  if (value === undefined || value === null) return "<no value>";
  const text = sprint(value);
  return value instanceof GoStruct && isPointer(value) && text.startsWith("&{") ? text.slice(1) : text;
}

/** The text of the arguments of `html`, `js` and `urlquery`. */
export function displayAll(values: readonly GoValue[]): string {
  const [only] = values;
  if (values.length === 1) return display(only);
  return sprintAll(values.map((value) => value === null || value instanceof GoStruct ? display(value) : value));
}
