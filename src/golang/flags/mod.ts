/**
 * Flags as data. A command declares its flags once, as a table; parsing, checking, help, completion and documentation
 * are made from that table. In go a table and arguments, out come typed values or what is wrong, with a hint.
 */
export * from "./flag.ts";
export * from "./parse.ts";
export { readValue } from "./read_value.ts";
