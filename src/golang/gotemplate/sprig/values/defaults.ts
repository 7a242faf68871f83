/** sprig's functions on empty values, JSON and choice. */
import { goJson, type GoJsonOptions, goJsonParse } from "../../../gojson/mod.ts";
import { truth } from "../../truth.ts";
import { declared, type FuncMap, GoStruct, type GoValue } from "../../../go_value.ts";
import { ANY, BOOL, bool, STRING, text } from "../args.ts";
import { deepCopy } from "./reflect.ts";

/** The functions by name. */
export function defaultFunctions(): FuncMap {
  const copy = declared([ANY], copyOf);
  return {
    default: declared(
      [ANY, ANY],
      (fallback, ...given) => (empty(given[0] ?? null) ? fallback : given[0] ?? null),
      true,
    ),
    empty: declared([ANY], empty),
    coalesce: declared([ANY], (...all) => all.find((value) => !empty(value)) ?? null, true),
    all: declared([ANY], (...all) => !all.some(empty), true),
    any: declared([ANY], (...all) => all.some((value) => !empty(value)), true),
    ternary: declared([ANY, ANY, BOOL], (yes, no, choice) => (bool(choice) ? yes : no)),
    deepCopy: copy,
    mustDeepCopy: copy,
    fail: declared([STRING], (message) => {
      throw new Error(text(message));
    }),
    hello: declared([], () => "Hello!"),
    ...jsonFunctions(),
  };
}

/** A deep copy; nil has no type to copy. */
function copyOf(value: GoValue): GoValue {
  if (value === null) throw new Error("reflect: call of reflect.Value.Type on zero Value");
  return deepCopy(value);
}

/** Whether a value is the zero value of its type; a struct never is. */
export function empty(value: GoValue): boolean {
  return value instanceof GoStruct ? value.isNil : !truth(value);
}

function jsonFunctions(): FuncMap {
  return {
    fromJson: declared([STRING], (json) => attempt(() => goJsonParse(text(json)), null)),
    mustFromJson: declared([STRING], (json) => goJsonParse(text(json))),
    toJson: writer(true, {}),
    mustToJson: writer(false, {}),
    toPrettyJson: writer(true, { indent: "  " }),
    mustToPrettyJson: writer(false, { indent: "  " }),
    toRawJson: writer(false, { escapeHtml: false }),
    mustToRawJson: writer(false, { escapeHtml: false }),
  };
}

/** The lenient functions return an empty text for a value that JSON cannot represent. */
function writer(lenient: boolean, options: GoJsonOptions) {
  return declared([ANY], (value) => lenient ? attempt(() => goJson(value, options), "") : goJson(value, options));
}

function attempt(body: () => GoValue, otherwise: GoValue): GoValue {
  try {
    return body();
  } catch {
    // Sprig ignores the error of JSON that cannot be read or written.
    return otherwise;
  }
}
