import type { CommandUnknownOpts } from "@commander-js/extra-typings";
import { UsageError } from "../core/errors.ts";

/**
 * Spells a command line as commander reads it. kubectl's users write pflag's spellings, of which commander lacks two:
 * `-o=json` (short flag with `=`) and `--bool=false`. Errors: a UsageError for a value that is no boolean.
 */
export function pflag(args: readonly string[], command: CommandUnknownOpts): string[] {
  const end = args.indexOf("--");
  const flags = end < 0 ? args : args.slice(0, end);
  return [...flags.flatMap((word) => respell(word, command)), ...(end < 0 ? [] : args.slice(end))];
}

function respell(word: string, command: CommandUnknownOpts): string[] {
  const match = /^(--?[^=]+)=([^]*)$/.exec(word);
  if (match === null) return [word];
  const [, flag = "", value = ""] = match;
  const option = command.options.find(({ long, short }) => long === flag || short === flag);
  if (option === undefined) return [word];
  if (option.isBoolean()) return booleanFlag(flag, value);
  return flag.startsWith("--") ? [word] : [flag, value];
}

/** Go's ParseBool. */
function booleanFlag(flag: string, value: string): string[] {
  if (/^(1|t|true)$/i.test(value)) return [flag];
  if (/^(0|f|false)$/i.test(value)) return [];
  throw new UsageError(`The flag ${flag} cannot be "${value}"`, { hint: 'it takes "true" or "false"' });
}
