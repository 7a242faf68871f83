import type { ChainNode, CommandNode, DotNode, IdentifierNode, Operand, PipeNode, VariableNode } from "../parse/ast.ts";
import { nodeText } from "../parse/node_text.ts";
import { type Effect, type GoFunc, GoStruct } from "../../go_value.ts";
import { anyType, failing, type Literal, literalArgument } from "./argument.ts";
import { builtins, type Callable } from "./builtins.ts";
import { type Call, callable, compileCall, compileCallOfValue, compileShortCircuit } from "./call.ts";
import { isMethod, readField } from "./field.ts";
import { isGoMap } from "../kind.ts";
import type { Frame } from "./frame.ts";
import type { Eval, Slot, State } from "./state.ts";

/** The context in which expressions are compiled. */
export interface Environment {
  readonly functions: Readonly<Record<string, GoFunc>>;
  /** Called after each function call. */
  readonly watch?: Watch;
}

/**
 * Receives the evaluated arguments and the result of a function call. If it throws, the rendering stops with that
 * error.
 */
export type Watch = (name: string, args: readonly Slot[], result: Slot, effect: Effect) => void;

/** The arguments of a command, and whether the previous command in the pipeline passes a value to this command. */
interface Rest {
  readonly args: readonly Operand[];
  readonly hasFinal: boolean;
}

const nothing: Rest = { args: [], hasFinal: false };
const readDot: Eval = (_state, dot) => dot;

/** Compiles pipelines and their parts. */
export class ExpressionCompiler {
  constructor(readonly environment: Environment, readonly frame: Frame) {}

  /**
   * Compiles a pipeline to the value of its last command. The value is also stored in the variables that the pipeline
   * declares or assigns.
   */
  pipeline(pipe: PipeNode): Eval {
    const value = this.#commands(pipe);
    const [first, second] = pipe.declared.map((node) => this.#target(node, pipe));
    if (first === undefined) return value;
    return (state, dot, vars, final) => {
      const result = value(state, dot, vars, final);
      first(state, result, vars, undefined);
      if (second !== undefined) second(state, result, vars, undefined);
      return result;
    };
  }

  /** Compiles an assignment of dot to the declared or assigned variable. */
  #target(node: VariableNode, pipe: PipeNode): Eval {
    const [name = "$"] = node.names;
    const slot = pipe.isAssign ? this.frame.find(name) : this.frame.declare(name);
    if (slot === undefined) return undefinedVariable(name);
    return (_state, dot, vars) => vars[slot] = dot;
  }

  /** The slot of a variable that a compiled pipeline declares. */
  slotOf(node: VariableNode): number {
    return this.frame.find(node.names[0] ?? "$") ?? 0;
  }

  #commands(pipe: PipeNode): Eval {
    const commands = pipe.commands.map((command, i) => this.#command(command, i > 0));
    return (state, dot, vars, final) => {
      let value = final;
      for (const command of commands) value = withoutNil(command(state, dot, vars, value));
      return value;
    };
  }

  #command(command: CommandNode, hasFinal: boolean): Eval {
    const [first, ...args] = command.args;
    if (first.kind === "nil" && args.length === 0 && !hasFinal) return failing(first, "nil is not a command");
    return this.#called(first, { args, hasFinal }, command);
  }

  /** Compiles an operand without arguments. */
  readonly operand = (node: Operand): Eval => this.#called(node, nothing, node);

  /**
   * Compiles an operand with the arguments after the operand. `site` is the node that errors of a function refer to.
   */
  #called(node: Operand, rest: Rest, site: CommandNode | Operand): Eval {
    switch (node.kind) {
      case "field":
        return this.#fields(readDot, node, node.names, rest);
      case "chain":
        return this.#chain(node, rest);
      case "identifier":
        return this.#function(node, rest, site);
      case "variable":
        return this.#variable(node, rest);
      default:
        return rest.args.length > 0 || rest.hasFinal ? notAFunction(node) : this.#value(node);
    }
  }

  #value(node: PipeNode | DotNode | Literal): Eval {
    if (node.kind === "pipe") return at(node, this.pipeline(node));
    return node.kind === "dot" ? (state, dot) => (state.node = node, dot) : literalArgument(node, anyType);
  }

  #chain(node: ChainNode, rest: Rest): Eval {
    if (node.node.kind === "nil") return failing(node, `indirection through explicit nil in ${nodeText(node)}`);
    return this.#fields(this.operand(node.node), node, node.names, rest);
  }

  #variable(node: VariableNode, rest: Rest): Eval {
    const [name = "$", ...names] = node.names;
    const slot = this.frame.find(name);
    if (slot === undefined) return undefinedVariable(name);
    if (names.length > 0) return this.#fields((_state, _dot, vars) => vars[slot], node, names, rest);
    if (rest.args.length > 0 || rest.hasFinal) return notAFunction(node);
    return (state, _dot, vars) => (state.node = node, vars[slot]);
  }

  /** Compiles `.a.b.c` on a base. If the last name is a method, it receives the arguments. */
  #fields(base: Eval, node: Operand, names: readonly string[], rest: Rest): Eval {
    if (rest.args.length > 0 || rest.hasFinal) return this.#method(base, node, names, rest);
    const walk = this.#walk(names, node);
    return (state, dot, vars, final) => {
      state.node = node;
      return walk(state, base(state, dot, vars, final));
    };
  }

  /**
   * Compiles a field chain with arguments. The last name must be a method: arguments for a field or a key are an error.
   */
  #method(base: Eval, node: Operand, names: readonly string[], rest: Rest): Eval {
    const name = names.at(-1) ?? "";
    const walk = this.#walk(names.slice(0, -1), node);
    return (state, dot, vars, final) => {
      state.node = node;
      const holder = walk(state, base(state, dot, vars, undefined));
      if (isGoMap(holder)) throw state.fail(`${name} is not a method but has arguments`);
      const value = readField(state, holder, name);
      if (isMethod(value)) return this.#methodCall(value, node, name, rest)(state, dot, vars, final);
      if (holder === undefined) return undefined;
      throw state.fail(`${name} has arguments but cannot be invoked as function`);
    };
  }

  /** Follows names from a value. */
  #walk(names: readonly string[], node: Operand) {
    return (state: State, base: Slot): Slot => {
      let value = base;
      for (const name of names) {
        const receiver = value;
        value = readField(state, receiver, name);
        // A function in a struct is a method and is called; a function in a map is a value.
        if (isMethod(value) && receiver instanceof GoStruct) {
          value = this.#methodCall(value, node, name, nothing)(state, undefined, [], undefined);
        }
      }
      return value;
    };
  }

  #methodCall(value: GoFunc, node: Operand, name: string, rest: Rest): Eval {
    const callee = this.#watched(`.${name}`, callable(value));
    return compileCall({ name, callee, site: node, ...rest }, this.operand);
  }

  #function(node: IdentifierNode, rest: Rest, site: CommandNode | Operand): Eval {
    const { name } = node;
    const own = Object.hasOwn(this.environment.functions, name) ? this.environment.functions[name] : undefined;
    const callee = own === undefined ? builtins.get(name) : callable(own);
    if (callee === undefined) return failing(node, `${JSON.stringify(name)} is not a defined function`);
    const call = { name, callee: this.#watched(name, callee), site, ...rest };
    return at(node, own === undefined ? this.#builtin(call) : compileCall(call, this.operand));
  }

  #watched(name: string, callee: Callable): Callable {
    const { watch } = this.environment;
    if (watch === undefined) return callee;
    const run = (...args: Slot[]) => {
      const result = callee.run(...args);
      watch(name, args, result, callee.effect ?? "none");
      return result;
    };
    return { ...callee, run };
  }

  #builtin(call: Call & { callee: Callable }): Eval {
    if (call.name === "and" || call.name === "or") return compileShortCircuit(call, this.operand);
    return call.name === "call" ? compileCallOfValue(call, this.operand) : compileCall(call, this.operand);
  }
}

/** The value that the pipeline passes on: nil, for example from a map, becomes a missing value. */
function withoutNil(value: Slot): Slot {
  return value === null ? undefined : value;
}

/** Wraps an evaluation so that errors name this node. */
function at(node: Operand, value: Eval): Eval {
  return (state, dot, vars, final) => {
    state.node = node;
    return value(state, dot, vars, final);
  };
}

function undefinedVariable(name: string): Eval {
  return (state) => {
    throw state.fail(`undefined variable: ${name}`);
  };
}

function notAFunction(node: Operand): Eval {
  return failing(node, `can't give argument to non-function ${nodeText(node)}`);
}
