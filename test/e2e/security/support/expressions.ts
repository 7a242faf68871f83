/**
 * The regular expressions of a source text: literals, calls of `RegExp`, and arguments of `match`, `matchAll` and
 * `search`. Parts of a pattern come from constants of modules; any other part is a hole.
 */
import { constantOf, type Module, moduleOf, visit } from "./constants.ts";

/** An expression and its position. */
export interface Expression {
  readonly source: string;
  readonly flags: string;
  /** `file:line`. */
  readonly place: string;
}

/** A part of a pattern whose text is known only at run time. */
export interface Hole {
  readonly file: string;
  readonly line: number;
  /** The source text of the part. */
  readonly code: string;
}

/** The expressions and the holes of a file. */
export interface Found {
  readonly expressions: readonly Expression[];
  readonly holes: readonly Hole[];
}

/** `read` returns the text of a file; `standIn` returns the text in place of a hole. */
export interface Reading {
  readonly read: (file: string) => string;
  readonly standIn: (hole: Hole) => string;
}

type Node = Deno.lint.Node;

/** The methods of a string that turn a string into an expression. */
const METHODS = ["match", "matchAll", "search"];

/** The expressions of a file. File names are relative to one folder, also for `read`. */
export function expressionsOf(file: string, { read, standIn }: Reading): Found {
  const module = moduleOf(file, read);
  const expressions: Expression[] = [];
  const holes: Hole[] = [];
  const lineOf = (node: Node) => module.text.slice(0, node.range[0]).split("\n").length;
  const reader: Reader = {
    module,
    read,
    hole(node) {
      const found = { file, line: lineOf(node), code: module.text.slice(...node.range) };
      holes.push(found);
      return standIn(found);
    },
  };
  for (const node of candidates(module)) {
    const pattern = patternOf(node, reader) ?? givenPattern(node, reader);
    if (pattern !== undefined) {
      expressions.push({ source: pattern.source, flags: pattern.flags, place: `${file}:${lineOf(node)}` });
    } else if (isOtherUse(node)) {
      reader.hole(node);
    }
  }
  return { expressions, holes };
}

/** The nodes that may be expressions: literals, calls, and names of `RegExp`. */
function candidates({ file, text }: Module): readonly Node[] {
  const found: Node[] = [];
  const add = (node: Node) => void found.push(node);
  visit(file, text, { Literal: add, NewExpression: add, CallExpression: add, Identifier: add });
  return found;
}

/** The pattern that `match` and its like make from a string argument; `undefined` for an expression or another node. */
function givenPattern(node: Node, reader: Reader): Pattern | undefined {
  if (node.type !== "CallExpression" || node.callee.type !== "MemberExpression") return undefined;
  const [argument] = node.arguments;
  const { property } = node.callee;
  if (argument === undefined || !METHODS.some((name) => isNamed(property, name))) return undefined;
  return isExpression(argument, reader) ? undefined : { source: reader.hole(argument), flags: "" };
}

/** Whether `RegExp` is used in a way that hides expressions: not as a call, a type, or in `instanceof RegExp`. */
function isOtherUse(node: Node): boolean {
  if (node.type !== "Identifier" || node.name !== "RegExp") return false;
  const { parent } = node;
  if (parent.type === "NewExpression" || parent.type === "CallExpression") return !isNamed(parent.callee, "RegExp");
  return parent.type !== "TSTypeReference" && !(parent.type === "BinaryExpression" && parent.operator === "instanceof");
}

interface Pattern {
  readonly source: string;
  readonly flags: string;
}

/** How to read a node: its module, and the text in place of a hole. */
interface Reader {
  readonly module: Module;
  readonly read: (file: string) => string;
  readonly hole: (node: Node) => string;
}

/** The expression of a literal, of `new RegExp` and of `RegExp()`; `undefined` for other nodes. */
function patternOf(node: Node, reader: Reader): Pattern | undefined {
  if (node.type === "Literal") return node.value instanceof RegExp ? node.value : undefined;
  if (node.type !== "NewExpression" && node.type !== "CallExpression") return undefined;
  const [pattern, flags] = node.arguments;
  if (!isNamed(node.callee, "RegExp") || pattern === undefined) return undefined;
  return { source: textOf(pattern, reader), flags: flags === undefined ? "" : textOf(flags, reader) };
}

/** The text of a node: literals, templates, sums, constants, and the `source` of an expression. */
function textOf(node: Node, reader: Reader): string {
  switch (node.type) {
    case "Literal":
      return typeof node.value === "string" ? node.value : reader.hole(node);
    case "TemplateLiteral":
      return joined(node.quasis.map(({ cooked }) => cooked), node.expressions, reader);
    case "TaggedTemplateExpression":
      return isRaw(node)
        ? joined(node.quasi.quasis.map(({ raw }) => raw), node.quasi.expressions, reader)
        : reader.hole(node);
    case "BinaryExpression":
      return node.operator === "+" ? textOf(node.left, reader) + textOf(node.right, reader) : reader.hole(node);
    case "Identifier":
      return ofConstant(node, { name: node.name, reader, read: textOf });
    default:
      return sourceOf(node, reader);
  }
}

/** `CONSTANT.source`. */
function sourceOf(node: Node, reader: Reader): string {
  const isSource = node.type === "MemberExpression" && isNamed(node.property, "source");
  if (!isSource || node.object.type !== "Identifier") return reader.hole(node);
  const read = (value: Node, inner: Reader) => patternOf(value, inner)?.source;
  return ofConstant(node, { name: node.object.name, reader, read });
}

function joined(texts: readonly string[], between: readonly Node[], reader: Reader): string {
  const inner = between.map((node) => textOf(node, reader));
  return texts.map((text, index) => text + (inner[index] ?? "")).join("");
}

/** `String.raw`. */
function isRaw({ tag }: Deno.lint.TaggedTemplateExpression): boolean {
  return tag.type === "MemberExpression" && isNamed(tag.object, "String") && isNamed(tag.property, "raw");
}

interface Use {
  readonly name: string;
  readonly reader: Reader;
  readonly read: (value: Node, reader: Reader) => string | undefined;
}

/** The text of a constant. A hole in the constant counts at the node that uses it. */
function ofConstant(node: Node, { name, reader, read }: Use): string {
  const found = constantOf(name, reader.module, reader.read);
  if (found === undefined) return reader.hole(node);
  return read(found.node, { ...reader, module: found.module, hole: () => reader.hole(node) }) ?? reader.hole(node);
}

/** Whether an argument is an expression, which `patternOf` finds elsewhere. */
function isExpression(node: Node, reader: Reader): boolean {
  if (node.type === "ConditionalExpression") {
    return isExpression(node.consequent, reader) && isExpression(node.alternate, reader);
  }
  const found = node.type === "Identifier" ? constantOf(node.name, reader.module, reader.read) : { ...reader, node };
  return found !== undefined &&
    patternOf(found.node, { ...reader, module: found.module, hole: () => "" }) !== undefined;
}

function isNamed(node: Node, name: string): boolean {
  return node.type === "Identifier" && node.name === name;
}
