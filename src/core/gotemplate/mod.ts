/**
 * Go's text/template: a template text and functions go in, a template that renders data to text comes out; output and
 * errors are those of Go 1.26. Also its printing, comparing and type names, which template functions build on.
 */
export * from "./value.ts";
export { byteLength, bytesOf, isAscii, sliceBytes, stringOf } from "./bytes.ts";
export { isPrint } from "./unicode.ts";
export { compareBytes, isGoMap, isList, isPointer, isUnsigned, type Kind, kindOf, sortedKeys, typeOf } from "./kind.ts";
export { truth } from "./truth.ts";
export { basicKind, equals, integerOf, lessOrEqual, lessThan } from "./compare.ts";
export { formatValue, sprint, sprintAll, sprintln } from "./fmt/print.ts";
export { sprintf } from "./fmt/printf.ts";
export { quote, quoteRune } from "./fmt/quote.ts";
export { formatFloat } from "./fmt/float.ts";
export { TemplateError } from "./error.ts";
export { parse, type ParseOptions, Template } from "./template.ts";
export { defaultLimits, type Limits, type MissingKey } from "./exec/state.ts";
