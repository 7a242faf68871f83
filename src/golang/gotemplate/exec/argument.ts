import { messageOf } from "../../../base/errors.ts";
import { kindOf, typeOf } from "../kind.ts";
import type { BoolNode, NilNode, NumberNode, Operand, StringNode } from "../parse/ast.ts";
import { nodeText } from "../parse/node_text.ts";
import { constantOf } from "../parse/number.ts";
import { GoInt, type GoValue } from "../../go_value.ts";
import { zeroOf } from "./field.ts";
import type { Eval, Slot, State } from "./state.ts";

/** A constant of the template. */
export type Literal = BoolNode | NilNode | NumberNode | StringNode;

/** Whether an operand is a constant. */
export function isLiteral(node: Operand): node is Literal {
  return node.kind === "bool" || node.kind === "nil" || node.kind === "number" || node.kind === "string";
}

/** The Go type of a parameter that accepts any value. */
export const anyType = "interface {}";
/** The Go type of a builtin function's parameter that also accepts a missing value. */
export const slotType = "reflect.Value";

/** Compiles a constant to an argument of a Go type. If the constant does not fit the type, evaluation fails. */
export function literalArgument(node: Literal, type: string): Eval {
  try {
    const value = literalValue(node, type);
    return (state) => (state.node = node, value);
  } catch (error) {
    return failing(node, messageOf(error));
  }
}

/** An evaluation that fails at a node. */
export function failing(node: Operand, message: string): Eval {
  return (state) => {
    state.node = node;
    throw state.fail(message);
  };
}

/** The value of a constant for a parameter. Throws if the constant does not fit the type. */
function literalValue(node: Literal, type: string): Slot {
  if (node.kind === "nil") {
    if (canBeNil(type)) return zeroOf(type);
    throw new Error(`cannot assign nil to ${type}`);
  }
  if (type === anyType || type === slotType) return idealValue(node);
  if (/^u?int\d*$/.test(type)) return integerValue(node, type);
  const wanted = literalTypes[type];
  if (wanted === undefined) throw new Error(`can't handle ${nodeText(node)} for arg of type ${type}`);
  if (wanted !== node.kind) throw found(wanted === "number" ? "float" : wanted, node);
  return node.kind === "number" ? constantOf(node.text).float : node.value;
}

/** For each Go type that is not an integer, the kind of constant that fits a parameter of the type. */
const literalTypes: Readonly<Record<string, "bool" | "string" | "number">> = {
  bool: "bool",
  string: "string",
  float64: "number",
  float32: "number",
};

function integerValue(node: Literal, type: string): Slot {
  const unsigned = type.startsWith("u");
  const constant = node.kind === "number" ? constantOf(node.text) : undefined;
  const value = unsigned ? constant?.uint : constant?.int;
  if (value === undefined) throw found(unsigned ? "unsigned integer" : "integer", node);
  return integerOfType(value, type);
}

/** Converts an integer to a Go integer type, truncated to the type's bits. */
export function integerOfType(value: bigint, type: string): bigint | GoInt {
  const bits = Number(/\d+/.exec(type)?.[0] ?? "64");
  const cut = type.startsWith("u") ? BigInt.asUintN(bits, value) : BigInt.asIntN(bits, value);
  return type === "int" ? cut : new GoInt(cut, type);
}

function found(wanted: string, node: Literal): Error {
  return new Error(`expected ${wanted}; found ${nodeText(node)}`);
}

/** The value of a constant for a parameter of any type: an int, or a float64 if it is written as one. */
function idealValue(node: Exclude<Literal, NilNode>): Slot {
  if (node.kind !== "number") return node.value;
  const { isFloat, float, int } = constantOf(node.text);
  if (isFloat) return float;
  if (int === undefined) throw new Error(`${node.text} overflows int`);
  return int;
}

function canBeNil(type: string): boolean {
  return type === anyType || type === slotType || /^(map\[|\[\]|\*|func\()/.test(type);
}

/** Checks that an argument has the Go type of its parameter. Another type is an error: values are not converted. */
export function checkedArgument(value: Eval, type: string): Eval {
  if (type === slotType) return value;
  if (type === anyType) {
    return (state, dot, vars, final) => {
      const result = value(state, dot, vars, final);
      return result === undefined ? null : result;
    };
  }
  return (state, dot, vars, final) => checked(state, value(state, dot, vars, final), type);
}

function checked(state: State, value: Slot, type: string): Slot {
  if (value === undefined) {
    if (!canBeNil(type)) throw state.fail(`invalid value; expected ${type}`);
    return zeroOf(type);
  }
  if (!fits(value, type)) {
    throw state.fail(`wrong type for value; expected ${type}; got ${value === null ? anyType : typeOf(value)}`);
  }
  return value;
}

/** Whether a value is assignable to a parameter of a Go type. */
export function fits(value: GoValue, type: string): boolean {
  if (type === anyType || type === slotType) return true;
  return value !== null && (kindOf(value) === type || typeOf(value) === type);
}
