/** sprig's functions on types. */
import { kindOf, typeOf } from "../kind.ts";
import { declared, type FuncMap } from "../value.ts";
import { ANY, STRING, text } from "./args.ts";
import { deepEqual } from "./values/equal.ts";

/** The functions by name. */
export function reflectFunctions(): FuncMap {
  return {
    typeOf: declared([ANY], typeOf),
    typeIs: declared([STRING, ANY], (type, value) => text(type) === typeOf(value)),
    typeIsLike: declared([STRING, ANY], (type, value) => [text(type), `*${text(type)}`].includes(typeOf(value))),
    kindOf: declared([ANY], kindOf),
    kindIs: declared([STRING, ANY], (kind, value) => text(kind) === kindOf(value)),
    deepEqual: declared([ANY, ANY], deepEqual),
  };
}
