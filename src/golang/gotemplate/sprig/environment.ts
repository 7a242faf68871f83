/** sprig's `env` and `expandenv`. */
import { type FuncMap, varying } from "../../go_value.ts";
import { STRING, text } from "./args.ts";

/** Returns the functions of this file by name. An unset variable is an empty string. */
export function environmentFunctions(env: (name: string) => string | undefined): FuncMap {
  return {
    env: varying([STRING], (name) => env(text(name)) ?? ""),
    expandenv: varying([STRING], (s) => expand(text(s), (name) => env(name) ?? "")),
  };
}

/** `$` with a special variable or a name, bare or in braces. As in os.Expand, an unclosed brace is dropped. */
const VARIABLE = /\$(?:\{[^}]*\}|\{|[*#$@!?\-0-9]|\w+)/g;

function expand(source: string, value: (name: string) => string): string {
  return source.replace(VARIABLE, (found) => {
    const name = found.replace(/^\$\{?|\}$/g, "");
    return name === "" ? "" : value(name);
  });
}
