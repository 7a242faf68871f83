import { bytesOf } from "../../go_bytes.ts";
import { isGoMap, isList, isPointer, isUnsigned, kindOf, sortedKeys, typeOf } from "../kind.ts";
import { GoInt, type GoMap, GoStruct, type GoValue } from "../../go_value.ts";
import { type Flags, noFlags, pad } from "./flags.ts";
import { formatFloat } from "./float.ts";
import { floatText, integerText } from "./number_verbs.ts";
import { canBackquote, quote } from "./quote.ts";

/** Printed in place of the address of a function or nested pointer, because Go's address differs in each run. */
const address = "0xc000000000";

const plain = Object.freeze(noFlags());

/** `fmt.Sprint` of one value: the text that `{{ . }}` prints and sprig's functions work on. */
export function sprint(value: GoValue): string {
  switch (typeof value) {
    case "string":
      return value;
    case "bigint":
    case "boolean":
      return String(value);
    case "number":
      return formatFloat(value, "g", -1);
    default:
      return formatValue(value, "v", plain);
  }
}

/** `fmt.Sprint` of several values: a space between adjacent values when neither is a string. */
export function sprintAll(values: readonly GoValue[]): string {
  let out = "";
  values.forEach((value, i) => {
    if (i > 0 && typeof value !== "string" && typeof values[i - 1] !== "string") out += " ";
    out += sprint(value);
  });
  return out;
}

/** `fmt.Sprintln`: spaces between all values, a newline at the end. */
export function sprintln(values: readonly GoValue[]): string {
  return `${values.map(sprint).join(" ")}\n`;
}

/** Formats one operand with a verb. A verb that does not fit the operand's type gives `%!d(string=x)`. */
export function formatValue(value: GoValue, verb: string, flags: Flags): string {
  if (value === null) return verb === "T" || verb === "v" ? pad("<nil>", flags) : `%!${verb}(<nil>)`;
  if (verb === "T") return stringText(typeOf(value), "s", flags) ?? "";
  if (verb === "p") return pointerText(value, verb, flags);
  return valueText(value, verb, flags, 0);
}

function badVerb(value: GoValue, verb: string, flags: Flags): string {
  return `%!${verb}(${typeOf(value)}=${value === null ? "<nil>" : valueText(value, "v", flags, 0)})`;
}

function pointerText(value: GoValue, verb: string, flags: Flags): string {
  const kind = kindOf(value);
  return kind === "slice" || kind === "map" || kind === "func" || kind === "ptr"
    ? address
    : badVerb(value, verb, flags);
}

function valueText(value: Exclude<GoValue, null>, verb: string, flags: Flags, depth: number): string {
  return scalarText(value, verb, flags) ?? compositeText(value, verb, flags, depth) ?? badVerb(value, verb, flags);
}

function scalarText(value: GoValue, verb: string, flags: Flags): string | undefined {
  switch (typeof value) {
    case "string":
      return stringText(value, verb, flags);
    case "bigint":
      return integerText(value, false, verb, flags);
    case "number":
      return floatText(value, verb, flags);
    case "boolean":
      return verb === "v" || verb === "t" ? pad(String(value), flags) : undefined;
    default:
      return value instanceof GoInt ? integerText(value.value, isUnsigned(kindOf(value)), verb, flags) : undefined;
  }
}

function compositeText(value: GoValue, verb: string, flags: Flags, depth: number): string | undefined {
  if (verb === "w") return undefined;
  if (isList(value)) return listText(value, verb, flags, depth);
  if (value instanceof GoStruct) return structText(value, verb, flags, depth);
  if (isGoMap(value)) return mapText(value, verb, flags, depth);
  return typeof value === "function" && verb === "v" ? address : undefined;
}

function inner(value: GoValue, verb: string, flags: Flags, depth: number): string {
  if (value === null) return flags.sharpV ? "interface {}(nil)" : "<nil>";
  return valueText(value, verb, flags, depth + 1);
}

function listText(list: readonly GoValue[], verb: string, flags: Flags, depth: number): string {
  const items = list.map((item) => inner(item, verb, flags, depth));
  return flags.sharpV ? `${typeOf(list)}{${items.join(", ")}}` : `[${items.join(" ")}]`;
}

function mapText(map: GoMap, verb: string, flags: Flags, depth: number): string {
  const items = sortedKeys(map).map((key) =>
    `${inner(key, verb, flags, depth)}:${inner(map[key] ?? null, verb, flags, depth)}`
  );
  return flags.sharpV ? `${typeOf(map)}{${items.join(", ")}}` : `map[${items.join(" ")}]`;
}

/** The verbs that are valid for strings. With these verbs, Go prints the result of a type's `String` method. */
const STRINGER_VERBS: ReadonlySet<string> = new Set(["v", "s", "x", "X", "q"]);

function structText(value: GoStruct, verb: string, flags: Flags, depth: number): string | undefined {
  const text = flags.sharpV || !STRINGER_VERBS.has(verb) ? undefined : value.text();
  if (text !== undefined) return stringText(text, verb, flags);
  const number = value.integer();
  if (number !== undefined) return integerText(number.value, isUnsigned(kindOf(number)), verb, flags);
  if (value.isNil) return flags.sharpV ? `(${value.goType})(nil)` : pad("<nil>", flags);
  return isPointer(value) ? pointedText(value, verb, flags, depth) : structBody(value, verb, flags, depth);
}

/** Go prints the target of a pointer only if the pointer is not nested. */
function pointedText(value: GoStruct, verb: string, flags: Flags, depth: number): string {
  if (depth === 0) return `&${structBody(value, verb, flags, depth)}`;
  return flags.sharpV ? `(${value.goType})(${address})` : address;
}

function structBody(value: GoStruct, verb: string, flags: Flags, depth: number): string {
  const named = flags.plusV || flags.sharpV;
  const items = value.fieldNames().map((name) =>
    (named ? `${name}:` : "") + inner(value.get(name) ?? null, verb, flags, depth)
  );
  return flags.sharpV ? `${value.goType.replace(/^\*/, "")}{${items.join(", ")}}` : `{${items.join(" ")}}`;
}

/** Formats a string with a string verb (v s q x X); `undefined` for any other verb. */
function stringText(value: string, verb: string, flags: Flags): string | undefined {
  switch (verb) {
    case "v":
      return flags.sharpV
        ? quotedText(value, { ...flags, sharp: false, plus: false })
        : pad(truncated(value, flags), flags);
    case "s":
      return pad(truncated(value, flags), flags);
    case "q":
      return quotedText(value, flags);
    case "x":
      return hexText(value, flags);
    case "X":
      return hexText(value, flags).toUpperCase();
    default:
      return undefined;
  }
}

/** The first `precision` characters. */
function truncated(value: string, flags: Flags): string {
  if (flags.precision === undefined || flags.precision >= value.length) return value;
  return [...value].slice(0, flags.precision).join("");
}

function quotedText(value: string, flags: Flags): string {
  const text = truncated(value, flags);
  return pad(flags.sharp && canBackquote(text) ? `\`${text}\`` : quote(text, flags.plus), flags);
}

/**
 * Two hexadecimal digits per byte. `% x` puts spaces between bytes, `%#x` puts 0x before the text, `%# x` puts 0x
 * before each byte.
 */
function hexText(value: string, flags: Flags): string {
  const bytes = [...bytesOf(value).subarray(0, flags.precision)].map((byte) => byte.toString(16).padStart(2, "0"));
  if (bytes.length === 0) return pad("", flags);
  const mark = flags.sharp ? "0x" : "";
  return pad(flags.space ? bytes.map((byte) => mark + byte).join(" ") : mark + bytes.join(""), flags);
}
