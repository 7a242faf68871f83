/**
 * Flags as data. A command declares its flags once, as a table; parsing, checking, help, completion and documentation
 * use that table. In: a table and arguments. Out: typed values, or problems with hints.
 */
export * from "./flag.ts";
export * from "./parse.ts";
export { readValue } from "./read_value.ts";
