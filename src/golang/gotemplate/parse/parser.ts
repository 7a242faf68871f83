import type { BranchNode, JumpNode, PipeNode, Statement, TemplateNode } from "./ast.ts";
import type { LexOptions } from "./lexer.ts";
import { newScope, PipelineParser, type Scope } from "./pipeline_parser.ts";
import type { Token } from "./token.ts";
import { Tokens } from "./tokens.ts";

/** The bodies of a template and of the templates that it defines, by name. */
export type Trees = Map<string, readonly Statement[]>;

/**
 * Maximum nesting of `if`, `with`, `range`, `block` and `else if`, because parser and evaluator recurse for each level.
 */
const maxNesting = 200;

/** The end of a list of statements. For `else if` and `else with`, the second keyword is not yet consumed. */
interface End {
  readonly kind: "end" | "else";
}

/**
 * Parses a template text. Returns the body of the template (under `name`) and of each `define` and `block`.
 * Throws a TemplateError with Go's text and line.
 */
export function parseTrees(name: string, text: string, options: LexOptions): Trees {
  const tokens = new Tokens(name, text, options);
  return new Parser(tokens, new PipelineParser(tokens, options.isFunction)).parse();
}

class Parser {
  readonly #trees: Trees = new Map();
  #nesting = 0;

  constructor(readonly tokens: Tokens, readonly pipelines: PipelineParser) {}

  parse(): Trees {
    const root: Statement[] = [];
    const scope = newScope();
    while (this.tokens.peek().type !== "eof") {
      if (this.#definition()) continue;
      const node = this.#statement(scope);
      if (isEnd(node)) throw this.tokens.error(`unexpected {{${node.kind}}}`);
      root.push(node);
    }
    this.#add(this.tokens.name, root);
    return this.#trees;
  }

  /**
   * Reads `{{define "x"}} ... {{end}}`. Returns false, without consuming tokens, if the next action is not a
   * definition.
   */
  #definition(): boolean {
    if (this.tokens.peek().type !== "leftDelim") return false;
    const delim = this.tokens.next();
    const word = this.tokens.next();
    if (word.type !== "define") {
      this.tokens.pushBack(word);
      this.tokens.pushBack(delim);
      return false;
    }
    const context = "define clause";
    const name = this.pipelines.unquoted(this.tokens.expect(context, "string", "rawString"));
    this.tokens.expect(context, "rightDelim");
    this.#add(name, this.#body(context));
    return true;
  }

  /** Reads the body of a `define` or `block`, up to and including its `end`. */
  #body(context: string): Statement[] {
    const { list, end } = this.#list(newScope());
    if (end.kind !== "end") throw this.tokens.error(`unexpected {{${end.kind}}} in ${context}`);
    return list;
  }

  /** Adds a template. A second definition replaces an empty first definition; an empty second definition is ignored. */
  #add(name: string, list: readonly Statement[]): void {
    const known = this.#trees.get(name);
    if (known === undefined || isEmpty(known)) this.#trees.set(name, list);
    else if (!isEmpty(list)) {
      throw this.tokens.error(`template: multiple definition of template ${JSON.stringify(name)}`);
    }
  }

  /** Reads statements up to and including `{{end}}` or `{{else}}`. */
  #list(scope: Scope): { list: Statement[]; end: End } {
    const list: Statement[] = [];
    while (this.tokens.peek().type !== "eof") {
      const node = this.#statement(scope);
      if (isEnd(node)) return { list, end: node };
      list.push(node);
    }
    throw this.tokens.error("unexpected EOF");
  }

  #statement(scope: Scope): Statement | End {
    const token = this.tokens.next();
    if (token.type === "text") return { kind: "text", pos: token.pos, text: token.text };
    if (token.type !== "leftDelim") throw this.tokens.unexpected(token, "input");
    this.tokens.actionStart = token.pos;
    const node = this.#action(scope);
    this.tokens.actionStart = undefined;
    return node;
  }

  #action(scope: Scope): Statement | End {
    const token = this.tokens.next();
    switch (token.type) {
      case "if":
      case "with":
      case "range":
        return this.#branch(token.type, scope);
      case "end":
        this.tokens.expect("end", "rightDelim");
        return { kind: "end" };
      case "else":
        return this.#else();
      case "block":
      case "template":
        return this.#template(token.type, scope);
      case "break":
      case "continue":
        return this.#jump(token.type, token, scope);
      default:
        this.tokens.pushBack(token);
        return { kind: "action", pos: token.pos, pipe: this.pipelines.pipeline("command", "rightDelim", scope) };
    }
  }

  #else(): End {
    const { type } = this.tokens.peek();
    if (type !== "if" && type !== "with") this.tokens.expect("else", "rightDelim");
    return { kind: "else" };
  }

  #jump(kind: "break" | "continue", token: Token, scope: Scope): JumpNode {
    const next = this.tokens.next();
    if (next.type !== "rightDelim") throw this.tokens.unexpected(next, `{{${kind}}}`);
    if (scope.ranges === 0) throw this.tokens.error(`{{${kind}}} outside {{range}}`);
    return { kind, pos: token.pos };
  }

  #branch(kind: BranchNode["kind"], scope: Scope): BranchNode {
    const { count } = scope.variables;
    if (++this.#nesting > maxNesting) throw this.tokens.error("max nesting of actions exceeded");
    const pipe = this.pipelines.pipeline(kind, "rightDelim", scope);
    if (kind === "range") scope.ranges++;
    const { list, end } = this.#list(scope);
    if (kind === "range") scope.ranges--;
    const otherwise = end.kind === "else" ? this.#otherwise(kind, scope) : undefined;
    scope.variables.endBlock(count);
    this.#nesting--;
    return { kind, pos: pipe.pos, pipe, list, otherwise };
  }

  /**
   * Reads the part after `else`. `else if` opens an `if` inside the `else`; one `end` closes both. The same holds for
   * `else with`.
   */
  #otherwise(kind: BranchNode["kind"], scope: Scope): readonly Statement[] {
    if (kind !== "range" && this.tokens.peek().type === kind) {
      this.tokens.next();
      return [this.#branch(kind, scope)];
    }
    const { list, end } = this.#list(scope);
    if (end.kind !== "end") throw this.tokens.error(`expected end; found {{${end.kind}}}`);
    return list;
  }

  #template(kind: "template" | "block", scope: Scope): TemplateNode {
    const context = `${kind} clause`;
    const token = this.tokens.expect(context, "string", "rawString");
    const name = this.pipelines.unquoted(token);
    const pipe = kind === "block"
      ? this.pipelines.pipeline(context, "rightDelim", scope)
      : this.#optionalPipeline(context, scope);
    if (kind === "block") this.#block(name, context);
    return { kind: "template", pos: token.pos, name, pipe };
  }

  #block(name: string, context: string): void {
    if (++this.#nesting > maxNesting) throw this.tokens.error("max nesting of actions exceeded");
    this.#add(name, this.#body(context));
    this.#nesting--;
  }

  #optionalPipeline(context: string, scope: Scope): PipeNode | undefined {
    const token = this.tokens.next();
    if (token.type === "rightDelim") return undefined;
    this.tokens.pushBack(token);
    return this.pipelines.pipeline(context, "rightDelim", scope);
  }
}

function isEnd(node: Statement | End): node is End {
  return node.kind === "end" || node.kind === "else";
}

/** Whether a body consists of white space only. */
export function isEmpty(list: readonly Statement[]): boolean {
  return list.every((node) => node.kind === "text" && node.text.trim() === "");
}
