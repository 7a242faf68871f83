/** Parses the JSON of a part. */
import { messageOf } from "../../base/errors.ts";
import { isMap, type ValueMap } from "../../base/value.ts";
import { type AbsentPart, absentPart, type Part } from "./snapshot.ts";

/** The JSON object of a part; or an absent part, with the reason. */
type JsonPart = { readonly value: ValueMap; readonly part?: undefined } | {
  readonly value?: undefined;
  readonly part: AbsentPart;
};

/** Parses a part as one JSON object. `name` is the file name for error messages. */
export function jsonOf(part: Part, name: string): JsonPart {
  if (part.text === undefined) return { part };
  try {
    const value: unknown = JSON.parse(part.text);
    return isMap(value) ? { value } : malformed(`${name} is not a JSON object`);
  } catch (error) {
    return malformed(`${name} is not JSON: ${shortened(messageOf(error))}`);
  }
}

function malformed(message: string): JsonPart {
  return { part: absentPart("malformed", message) };
}

/** Removes control characters and limits the length, because V8's message quotes untrusted text. */
function shortened(message: string): string {
  // deno-lint-ignore no-control-regex -- these characters are removed
  return message.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, " ").slice(0, 120);
}
