/**
 * Size limits for functions, as lint rules. Nested functions are checked separately and do not count for the outer
 * function.
 */

/** The limits. */
export const LIMITS = { complexity: 10, depth: 3, params: 4, lines: 60 } as const;

type FunctionNode = Deno.lint.FunctionDeclaration | Deno.lint.FunctionExpression | Deno.lint.ArrowFunctionExpression;

const FUNCTIONS = ["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"] as const;

/** Statements that add a level of nesting. */
const NESTING = [
  ..."IfStatement ForStatement ForInStatement ForOfStatement WhileStatement DoWhileStatement".split(" "),
  ..."SwitchStatement TryStatement".split(" "),
] as const;

/** Nodes that add a branch. */
const FORKS = [
  ..."IfStatement ConditionalExpression ForStatement ForInStatement ForOfStatement WhileStatement".split(" "),
  ..."DoWhileStatement CatchClause LogicalExpression SwitchCase".split(" "),
] as const;

type Visitor = Record<string, (node: Deno.lint.Node) => void>;

function visitor(entries: readonly (readonly [string, (node: Deno.lint.Node) => void])[]): Deno.lint.LintVisitor {
  const visitors: Visitor = Object.fromEntries(entries);
  return visitors;
}

/** Reports functions with a complexity above ten. */
export const complexity: Deno.lint.Rule = {
  create(context) {
    const counts: number[] = [];
    const leave = (node: Deno.lint.Node) => {
      const count = counts.pop() ?? 0;
      if (count > LIMITS.complexity) report(context, node, `complexity ${count}`, LIMITS.complexity);
    };
    const fork = (node: Deno.lint.Node) => {
      const isDefault = node.type === "SwitchCase" && node.test === null;
      if (counts.length > 0 && !isDefault) counts.push((counts.pop() ?? 0) + 1);
    };
    return visitor([
      ...FUNCTIONS.map((name) => [name, () => void counts.push(1)] as const),
      ...FUNCTIONS.map((name) => [`${name}:exit`, leave] as const),
      ...FORKS.map((name) => [name, fork] as const),
    ]);
  },
};

/** Reports statements that are nested more than three deep; `else if` is not deeper than its `if`. */
export const maxDepth: Deno.lint.Rule = {
  create(context) {
    const depths: number[] = [0];
    const move = (by: number) => depths.push((depths.pop() ?? 0) + by);
    const enter = (node: Deno.lint.Node) => {
      if (isElseIf(node)) return;
      move(1);
      const depth = depths.at(-1) ?? 0;
      if (depth === LIMITS.depth + 1) report(context, node, `depth ${depth}`, LIMITS.depth);
    };
    const leave = (node: Deno.lint.Node) => {
      if (!isElseIf(node)) move(-1);
    };
    return visitor([
      ...FUNCTIONS.map((name) => [name, () => void depths.push(0)] as const),
      ...FUNCTIONS.map((name) => [`${name}:exit`, () => void depths.pop()] as const),
      ...NESTING.map((name) => [name, enter] as const),
      ...NESTING.map((name) => [`${name}:exit`, leave] as const),
    ]);
  },
};

/** Reports functions with more than four parameters. */
export const maxParams: Deno.lint.Rule = {
  create(context) {
    return eachFunction((node) => {
      const count = node.params.length;
      if (count > LIMITS.params) report(context, node, `${count} parameters`, LIMITS.params);
    });
  },
};

/** Reports functions of more than sixty lines, except those that consist of a single statement, such as a table. */
export const maxLines: Deno.lint.Rule = {
  create(context) {
    return eachFunction((node) => {
      const lines = context.sourceCode.text.slice(...node.range).split("\n").length;
      if (lines > LIMITS.lines && !isTable(node)) report(context, node, `${lines} lines`, LIMITS.lines);
    });
  },
};

function eachFunction(check: (node: FunctionNode) => void): Deno.lint.LintVisitor {
  return { FunctionDeclaration: check, FunctionExpression: check, ArrowFunctionExpression: check };
}

function isTable({ body }: FunctionNode): boolean {
  return body?.type !== "BlockStatement" || body.body.length === 1;
}

function isElseIf(node: Deno.lint.Node): boolean {
  const parent = "parent" in node ? node.parent : undefined;
  return node.type === "IfStatement" && parent?.type === "IfStatement" &&
    parent.alternate?.range[0] === node.range[0];
}

function report(context: Deno.lint.RuleContext, node: Deno.lint.Node, found: string, limit: number) {
  context.report({
    node,
    message: `This function has ${found}; the limit is ${limit}`,
    hint: "Give a part of it a name",
  });
}
