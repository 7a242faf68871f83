/** sprig's functions on empty values and JSON, and its choice functions such as `ternary`. */
import { goJson, type GoJsonOptions, goJsonParse } from "../../../go_json.ts";
import { truth } from "../../truth.ts";
import { type FuncMap, GoStruct, type GoValue, pure } from "../../../go_value.ts";
import { ANY, attempt, BOOL, bool, STRING, text } from "../args.ts";
import { deepCopy } from "./reflect.ts";

/** Returns the functions of this file by name. */
export function defaultFunctions(): FuncMap {
  const copy = pure([ANY], copyOf);
  return {
    default: pure([ANY, ANY], (fallback, ...given) => (empty(given[0] ?? null) ? fallback : given[0] ?? null), true),
    empty: pure([ANY], empty),
    coalesce: pure([ANY], (...all) => all.find((value) => !empty(value)) ?? null, true),
    all: pure([ANY], (...all) => !all.some(empty), true),
    any: pure([ANY], (...all) => all.some((value) => !empty(value)), true),
    ternary: pure([ANY, ANY, BOOL], (yes, no, choice) => (bool(choice) ? yes : no)),
    deepCopy: copy,
    mustDeepCopy: copy,
    fail: pure([STRING], (message) => {
      throw new Error(text(message));
    }),
    hello: pure([], () => "Hello!"),
    ...jsonFunctions(),
  };
}

/** Returns a deep copy. Throws for nil, as in Go. */
function copyOf(value: GoValue): GoValue {
  if (value === null) throw new Error("reflect: call of reflect.Value.Type on zero Value");
  return deepCopy(value);
}

/** Whether a value is the zero value of its type. A struct is never empty. */
export function empty(value: GoValue): boolean {
  return value instanceof GoStruct ? value.isNil : !truth(value);
}

function jsonFunctions(): FuncMap {
  return {
    fromJson: pure([STRING], (json) => attempt(() => goJsonParse(text(json)), null)),
    mustFromJson: pure([STRING], (json) => goJsonParse(text(json))),
    toJson: writer(true, {}),
    mustToJson: writer(false, {}),
    toPrettyJson: writer(true, { indent: "  " }),
    mustToPrettyJson: writer(false, { indent: "  " }),
    toRawJson: writer(false, { escapeHtml: false }),
    mustToRawJson: writer(false, { escapeHtml: false }),
  };
}

/**
 * Makes a function that writes JSON. A lenient function returns an empty text for a value that JSON cannot represent.
 */
function writer(lenient: boolean, options: GoJsonOptions) {
  return pure([ANY], (value) => lenient ? attempt(() => goJson(value, options), "") : goJson(value, options));
}
