/**
 * Go's text/template. In: the text of a template, functions and data. Out: text, or an error with Go's message (Go
 * 1.26). Also exports printing and type names for template functions.
 */
export * from "../go_value.ts";
export { isGoMap, isList, kindOf, typeOf } from "./kind.ts";
export { sprint } from "./fmt/print.ts";
export { sprintf } from "./fmt/printf.ts";
export { parse, type ParseOptions, Template } from "./template.ts";
export type { Watch } from "./exec/expression_compiler.ts";
