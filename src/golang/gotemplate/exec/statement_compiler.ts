import { typeOf } from "../kind.ts";
import type { ActionNode, BranchNode, Statement, TemplateNode } from "../parse/ast.ts";
import { nodeText } from "../parse/node_text.ts";
import { truth } from "../truth.ts";
import { display } from "./display.ts";
import { type Environment, ExpressionCompiler } from "./expression_compiler.ts";
import { Frame } from "./frame.ts";
import { rangeExec } from "./range.ts";
import type { Exec, Slot, State } from "./state.ts";

/** A template body. Compiled at its first run, because most templates of a configuration never run. */
export interface Body {
  readonly name: string;
  readonly compile: () => Compiled;
  compiled: Compiled | undefined;
}

/** A template body after compilation. */
interface Compiled {
  readonly exec: Exec;
  /** The number of variable slots that a call needs. */
  readonly size: number;
}

/** Compiled bodies by name. */
export type Bodies = ReadonlyMap<string, Body>;

/** Creates the body of a template. Calls of other templates look up `bodies`. */
export function newBody(name: string, list: readonly Statement[], environment: Environment, bodies: Bodies): Body {
  return { name, compile: () => compile(list, environment, bodies), compiled: undefined };
}

function compile(list: readonly Statement[], environment: Environment, bodies: Bodies): Compiled {
  const frame = new Frame();
  const exec = new StatementCompiler(new ExpressionCompiler(environment, frame), bodies).list(list);
  return { exec, size: frame.size };
}

/** Runs a body with `dot` as its data and as `$`. */
export function runBody(state: State, body: Body, dot: Slot): void {
  const { exec, size } = body.compiled ??= body.compile();
  const vars: Slot[] = new Array(size).fill(undefined);
  vars[0] = dot;
  exec(state, dot, vars);
}

class StatementCompiler {
  constructor(readonly expressions: ExpressionCompiler, readonly bodies: Bodies) {}

  list(list: readonly Statement[]): Exec {
    const steps = list.map((node) => this.#statement(node));
    const [only] = steps;
    if (only !== undefined && steps.length === 1) return only;
    return (state, dot, vars) => {
      for (let i = 0; i < steps.length; i++) {
        // The cast is safe, because the index is below the length. A check would cost more than the call.
        const signal = (steps[i] as Exec)(state, dot, vars);
        if (signal !== 0) return signal;
      }
      return 0;
    };
  }

  #statement(node: Statement): Exec {
    switch (node.kind) {
      case "text":
        return (state) => (state.write(node.text), 0);
      case "action":
        return this.#action(node);
      case "template":
        return this.#template(node);
      case "break":
        return () => 1;
      case "continue":
        return () => 2;
      default:
        return this.expressions.frame.scoped(() => node.kind === "range" ? this.#range(node) : this.#branch(node));
    }
  }

  #action(node: ActionNode): Exec {
    const value = this.expressions.pipeline(node.pipe);
    if (node.pipe.declared.length > 0) return (state, dot, vars) => (value(state, dot, vars, undefined), 0);
    return (state, dot, vars) => {
      const result = value(state, dot, vars, undefined);
      if (typeof result === "string") state.write(result);
      else print(state, node, result);
      return 0;
    };
  }

  #branch(node: BranchNode): Exec {
    const value = this.expressions.pipeline(node.pipe);
    const body = this.#inner(node.list);
    const otherwise = node.otherwise === undefined ? nothing : this.#inner(node.otherwise);
    if (node.kind === "if") {
      return (state, dot, vars) => (truth(value(state, dot, vars, undefined)) ? body : otherwise)(state, dot, vars);
    }
    return (state, dot, vars) => {
      const result = value(state, dot, vars, undefined);
      return truth(result) ? body(state, result, vars) : otherwise(state, dot, vars);
    };
  }

  #inner(list: readonly Statement[]): Exec {
    return list.length === 0 ? nothing : this.expressions.frame.scoped(() => this.list(list));
  }

  #range(node: BranchNode): Exec {
    const pipe = this.expressions.pipeline(node.pipe);
    const [index, element] = node.pipe.declared.map((variable) => this.expressions.slotOf(variable));
    const body = this.#inner(node.list);
    const otherwise = node.otherwise === undefined ? undefined : this.#inner(node.otherwise);
    const count = node.pipe.declared.length;
    return rangeExec({
      pipe,
      body,
      otherwise,
      count,
      indexSlot: count === 2 ? index : undefined,
      elementSlot: element ?? index,
    });
  }

  #template(node: TemplateNode): Exec {
    const body = this.bodies.get(node.name);
    const value = node.pipe === undefined ? undefined : this.expressions.pipeline(node.pipe);
    return (state, dot, vars) => {
      state.node = node;
      if (body === undefined) throw state.fail(`template ${JSON.stringify(node.name)} not defined`);
      if (state.depth === state.limits.depth) throw state.fail(`exceeded maximum template depth (${state.depth})`);
      state.step();
      callBody(state, body, value?.(state, dot, vars, undefined));
      return 0;
    };
  }
}

const nothing: Exec = () => 0;

function callBody(state: State, body: Body, dot: Slot): void {
  const caller = state.template;
  state.template = body.name;
  state.depth++;
  runBody(state, body, dot);
  state.depth--;
  state.template = caller;
}

function print(state: State, node: ActionNode, value: Slot): void {
  if (typeof value === "function") {
    state.node = node;
    throw state.fail(`can't print ${nodeText(node)} of type ${typeOf(value)}`);
  }
  state.write(display(value));
}
