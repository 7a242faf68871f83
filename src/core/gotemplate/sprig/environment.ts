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

/** A special variable or a name, bare or in braces; a brace that opens nothing disappears, as in os.Expand. */
const VARIABLE = /\$(?:\{[^}]*\}|\{|[*#$@!?\-0-9]|\w+)/g;

function expand(source: string, value: (name: string) => string): string {
  return source.replace(VARIABLE, (found) => {
    const name = found.replace(/^\$\{?|\}$/g, "");
    return name === "" ? "" : value(name);
  });
}
