import { typeOf } from "../kind.ts";
import { truth } from "../truth.ts";
import type { Node, Operand } from "../parse/ast.ts";
import { nodeText } from "../parse/node_text.ts";
import { type GoFunc, GoInt, type GoValue } from "../../go_value.ts";
import { anyType, checkedArgument, fits, integerOfType, isLiteral, literalArgument, slotType } from "./argument.ts";
import type { Callable } from "./builtins.ts";
import { zeroOf } from "./field.ts";
import type { Eval, Slot } from "./state.ts";

/** A function call in a template. */
export interface Call {
  readonly name: string;
  readonly callee: Callable;
  readonly args: readonly Operand[];
  /** Whether the pipeline passes a value to the call as its last argument. */
  readonly hasFinal: boolean;
  /** The node that errors of the function refer to. */
  readonly site: Node;
}

/** Compiles an operand. */
export type CompileOperand = (node: Operand) => Eval;

const passFinal: Eval = (_state, _dot, _vars, final) => final;

/** Wraps a function from the engine's caller, so that templates can call it. */
export function callable(body: GoFunc): Callable {
  // checkedArgument rejects `undefined` except for parameters of slotType, which only builtins have.
  return { run: body as Callable["run"], signature: body.signature, effect: body.effect };
}

/** Evaluates the arguments in order and calls the function. */
export function compileCall(call: Call, operand: CompileOperand): Eval {
  const problem = countProblem(call);
  if (problem !== undefined) {
    return (state) => {
      throw state.fail(problem);
    };
  }
  const args = call.args.map((node, i) => argument(node, parameterType(call, i), operand));
  if (call.hasFinal) args.push(checkedArgument(passFinal, parameterType(call, call.args.length)));
  const site = { node: call.site, name: call.name };
  return (state, dot, vars, final) => {
    const all = args.map((arg) => arg(state, dot, vars, final));
    state.call = site;
    return state.count(call.callee.run(...all));
  };
}

function countProblem({ name, callee, args, hasFinal }: Call): string | undefined {
  const { params, variadic } = callee.signature;
  const given = args.length + (hasFinal ? 1 : 0);
  if (variadic !== true) return given === params.length ? undefined : wrongCount(name, `${params.length} got ${given}`);
  const least = params.length - 1;
  return given >= least ? undefined : wrongCount(name, `at least ${least} got ${args.length}`);
}

function wrongCount(name: string, text: string): string {
  return `wrong number of args for ${name}: want ${text}`;
}

function parameterType({ callee }: Call, i: number): string {
  const { params } = callee.signature;
  return params[Math.min(i, params.length - 1)] ?? anyType;
}

function argument(node: Operand, type: string, operand: CompileOperand): Eval {
  return isLiteral(node) ? literalArgument(node, type) : checkedArgument(operand(node), type);
}

/**
 * Compiles `and` and `or`. The result is the first false argument of `and` or the first true argument of `or`; if there
 * is none, the last argument. Arguments after the result are not evaluated.
 */
export function compileShortCircuit(call: Call, operand: CompileOperand): Eval {
  if (countProblem(call) !== undefined || (call.args.length === 0 && !call.hasFinal)) return compileCall(call, operand);
  const args = call.args.map((node) => argument(node, slotType, operand));
  if (call.hasFinal) args.push(passFinal);
  const decides = call.name === "or";
  return (state, dot, vars, final) => {
    let value: Slot;
    for (const arg of args) {
      value = arg(state, dot, vars, final);
      if (truth(value) === decides) return value;
    }
    return value;
  };
}

/** Compiles `call f a b`: the first argument is the function. */
export function compileCallOfValue(call: Call, operand: CompileOperand): Eval {
  const [callee] = call.args;
  const name = callee === undefined ? "value" : nodeText(callee);
  const run = (target: Slot, ...args: Slot[]) => callValue(name, target, args);
  return compileCall({ ...call, callee: { ...call.callee, run } }, operand);
}

function callValue(name: string, target: Slot, args: readonly Slot[]): Slot {
  if (target === null || target === undefined) throw new Error("call of nil");
  if (typeof target !== "function") throw new Error(`non-function ${name} of type ${typeOf(target)}`);
  const { params, variadic } = target.signature;
  const least = variadic === true ? params.length - 1 : params.length;
  if (args.length < least || (variadic !== true && args.length > least)) {
    throw new Error(
      `wrong number of args for ${name}: got ${args.length} want ${variadic === true ? "at least " : ""}${least}`,
    );
  }
  return target(...args.map((arg, i) => prepared(arg, params[Math.min(i, params.length - 1)] ?? anyType, i)));
}

function prepared(arg: Slot, type: string, i: number): GoValue {
  if (arg === null || arg === undefined) {
    if (/^(string|bool|u?int\d*|float\d+)$/.test(type)) {
      throw new Error(`arg ${i}: value is nil; should be of type ${type}`);
    }
    return zeroOf(type) ?? null;
  }
  if (fits(arg, type)) return arg;
  const integer = typeof arg === "bigint" ? arg : arg instanceof GoInt ? arg.value : undefined;
  if (integer === undefined || !/^u?int\d*$/.test(type)) {
    throw new Error(`arg ${i}: value has type ${typeOf(arg)}; should be ${type}`);
  }
  return integerOfType(integer, type);
}
