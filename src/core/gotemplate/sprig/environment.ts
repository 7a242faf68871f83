/** sprig's `env` and `expandenv`. */
import { declared, type FuncMap } from "../value.ts";
import { STRING, text } from "./args.ts";

/** The functions by name; a variable that is not set reads as an empty string. */
export function environmentFunctions(env: (name: string) => string | undefined): FuncMap {
  return {
    env: declared([STRING], (name) => env(text(name)) ?? ""),
    expandenv: declared([STRING], (s) => expand(text(s), (name) => env(name) ?? "")),
  };
}

/** A special variable, a name, a name in braces, or a brace that opens nothing (which disappears, as in os.Expand). */
const VARIABLE = /\$(?:\{([*#$@!?\-0-9])\}|\{([^}]*)\}|(\{)|([*#$@!?\-0-9])|(\w+))/g;

function expand(source: string, value: (name: string) => string): string {
  return source.replace(VARIABLE, (_, special, braced, open, short, name) => {
    if (open !== undefined || braced === "") return "";
    return value(special ?? braced ?? short ?? name);
  });
}
