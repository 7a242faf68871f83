import { messageOf } from "../../../base/errors.ts";
import type { CommandNode, Operand, PipeNode, VariableNode } from "./ast.ts";
import { constantOf } from "./number.ts";
import { Names } from "../names.ts";
import { nodeText } from "./node_text.ts";
import type { Token, TokenType } from "./token.ts";
import type { Tokens } from "./tokens.ts";
import { unquote } from "../../unquote.ts";

const operandStarts: ReadonlySet<TokenType> = new Set<TokenType>([
  "bool",
  "charConstant",
  "complex",
  "dot",
  "field",
  "identifier",
  "number",
  "nil",
  "rawString",
  "string",
  "variable",
  "leftParen",
]);

/** The names in scope while a template body is parsed. */
export interface Scope {
  /** Variables declared so far, `$` first. */
  readonly variables: Names<true>;
  /** Number of enclosing `range` bodies: `break` and `continue` need at least one. */
  ranges: number;
}

/** The scope in which each template body starts. */
export function newScope(): Scope {
  const variables = new Names<true>();
  variables.declare("$", true);
  return { variables, ranges: 0 };
}

/** Maximum nesting of parentheses, because parser and evaluator recurse for each level. */
const maxParens = 200;

/** Reads the contents of an action: declarations, commands, operands. */
export class PipelineParser {
  #parens = 0;

  constructor(readonly tokens: Tokens, readonly isFunction: (name: string) => boolean) {}

  /** Reads declarations and commands up to and including a token of type `end`. */
  pipeline(context: string, end: "rightDelim" | "rightParen", scope: Scope): PipeNode {
    const { pos } = this.tokens.peek();
    const declared: VariableNode[] = [];
    const isAssign = this.#declarations(context, scope, declared);
    const commands: CommandNode[] = [];
    for (;;) {
      const token = this.tokens.next();
      if (token.type === end) break;
      if (!operandStarts.has(token.type)) throw this.tokens.unexpected(token, context);
      this.tokens.pushBack(token);
      commands.push(this.#command(scope));
    }
    this.#check(commands, context);
    return { kind: "pipe", pos, declared, isAssign, commands };
  }

  /**
   * Reads `$x :=`, `$x =`, and in a `range` also `$i, $x :=`. Returns whether the pipeline assigns existing variables.
   */
  #declarations(context: string, scope: Scope, declared: VariableNode[]): boolean {
    for (;;) {
      const variable = this.tokens.peek();
      if (variable.type !== "variable") return false;
      this.tokens.next();
      const next = this.tokens.peek();
      if (next.type === "assign" || next.type === "declare") {
        this.tokens.next();
        declare(variable, scope, declared);
        return next.type === "assign";
      }
      if (next.type !== "char" || next.text !== ",") {
        // In `$x foo` the variable is an argument.
        this.tokens.pushBack(variable);
        return false;
      }
      this.tokens.next();
      declare(variable, scope, declared);
      this.#expectSecond(context, declared.length);
    }
  }

  #expectSecond(context: string, count: number): void {
    if (context !== "range" || count >= 2) throw this.tokens.error(`too many declarations in ${context}`);
    const { type } = this.tokens.peek();
    if (type === "variable" || type === "rightDelim" || type === "rightParen") return;
    throw this.tokens.error("range can only initialize variables");
  }

  #check(commands: readonly CommandNode[], context: string): void {
    if (commands.length === 0) throw this.tokens.error(`missing value for ${context}`);
    commands.forEach((command, i) => {
      if (i > 0 && /^(bool|dot|nil|number|string)$/.test(command.args[0].kind)) {
        throw this.tokens.error(`non executable command in pipeline stage ${i + 1}`);
      }
    });
  }

  /** Reads operands, separated by white space, up to and including a pipe, or up to the end of the pipeline. */
  #command(scope: Scope): CommandNode {
    const { pos } = this.tokens.peek();
    const args: Operand[] = [];
    for (;;) {
      const operand = this.#operand(scope);
      if (operand !== undefined) args.push(operand);
      const token = this.tokens.next();
      if (token.type === "pipe") break;
      this.tokens.pushBack(token);
      if (token.type === "rightDelim" || token.type === "rightParen") break;
      if (!token.spaced || operand === undefined) throw this.tokens.unexpected(token, "operand");
    }
    const [first, ...rest] = args;
    if (first === undefined) throw this.tokens.error("empty command");
    return { kind: "command", pos, args: [first, ...rest] };
  }

  /** Reads a term and the fields after it. */
  #operand(scope: Scope): Operand | undefined {
    const term = this.#term(scope);
    const next = this.tokens.peek();
    if (term === undefined || !this.#adjoins(next)) return term;
    const { pos } = next;
    const names: string[] = [];
    while (this.#adjoins(this.tokens.peek())) names.push(this.tokens.next().text.slice(1));
    switch (term.kind) {
      case "field":
      case "variable":
        return { ...term, pos, names: [...term.names, ...names] };
      case "pipe":
      case "identifier":
        return { kind: "chain", pos, node: term, names };
      default:
        throw this.tokens.error(`unexpected . after term "${nodeText(term).replace(/["\\]/g, "\\$&")}"`);
    }
  }

  #adjoins(token: Token): boolean {
    return token.type === "field" && !token.spaced;
  }

  #term(scope: Scope): Operand | undefined {
    const token = this.tokens.next();
    const { pos, text } = token;
    switch (token.type) {
      case "identifier":
        if (!this.isFunction(text)) throw this.tokens.error(`function "${text}" not defined`);
        return { kind: "identifier", pos, name: text };
      case "variable":
        if (scope.variables.find(text) === undefined) throw this.tokens.error(`undefined variable "${text}"`);
        return { kind: "variable", pos, names: [text] };
      case "field":
        return { kind: "field", pos, names: [text.slice(1)] };
      case "leftParen":
        return this.#parenthesised(scope);
      default:
        return this.#literal(token);
    }
  }

  #parenthesised(scope: Scope): PipeNode {
    if (this.#parens >= maxParens) throw this.tokens.error("max expression depth exceeded");
    this.#parens++;
    const pipe = this.pipeline("parenthesized pipeline", "rightParen", scope);
    this.#parens--;
    return pipe;
  }

  #literal(token: Token): Operand | undefined {
    const { pos, text } = token;
    switch (token.type) {
      case "dot":
      case "nil":
        return { kind: token.type, pos };
      case "bool":
        return { kind: "bool", pos, value: text === "true" };
      case "string":
      case "rawString":
        return { kind: "string", pos, quoted: text, value: this.unquoted(token) };
      case "charConstant":
      case "number":
      case "complex":
        this.#checkConstant(token);
        return { kind: "number", pos, text };
      default:
        this.tokens.pushBack(token);
        return undefined;
    }
  }

  /** The value of a string constant. */
  unquoted(token: Token): string {
    const value = unquote(token.text);
    if (value === undefined) throw this.tokens.error("invalid syntax");
    return value;
  }

  #checkConstant(token: Token): void {
    try {
      if (token.text.endsWith("i")) throw new Error(`complex numbers are not supported: ${token.text}`);
      constantOf(token.text);
    } catch (error) {
      throw this.tokens.error(messageOf(error), error);
    }
  }
}

function declare(variable: Token, scope: Scope, declared: VariableNode[]): void {
  declared.push({ kind: "variable", pos: variable.pos, names: [variable.text] });
  scope.variables.declare(variable.text, true);
}
