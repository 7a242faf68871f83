import { bytesOf } from "../bytes.ts";
import { type Flags, pad } from "./flags.ts";
import { canBackquote, quote } from "./quote.ts";

/** A string under a string verb (v s q x X); `undefined` for any other verb. */
export function stringText(value: string, verb: string, flags: Flags): string | undefined {
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

/** Two hexadecimal digits a byte; `% x` separates them, `%#x` puts 0x before (all or, with the space, each). */
function hexText(value: string, flags: Flags): string {
  const bytes = [...bytesOf(value).subarray(0, flags.precision)].map((byte) => byte.toString(16).padStart(2, "0"));
  if (bytes.length === 0) return pad("", flags);
  const mark = flags.sharp ? "0x" : "";
  return pad(flags.space ? bytes.map((byte) => mark + byte).join(" ") : mark + bytes.join(""), flags);
}
