/** The regular expressions of a source text: its literals, and what it builds with `new RegExp`. */

/** An expression and its place. */
export interface Expression {
  readonly source: string;
  readonly flags: string;
  /** `file:line`. */
  readonly place: string;
}

/** A stand-in for a value that only a run has: a name, or a number. */
const UNKNOWN = "1";

/** The expressions of a file. Throws for a `new RegExp` whose pattern cannot be read. */
export function expressionsOf(file: string, text: string): Expression[] {
  const constants = new Map<string, string>();
  const found: Expression[] = [];
  const add = (node: Deno.lint.Node, source: string, flags: string) =>
    void found.push({ source, flags, place: `${file}:${text.slice(0, node.range[0]).split("\n").length}` });
  const textOf = (node: Deno.lint.Node): string => valueOf(node, constants);
  visit(file, text, {
    VariableDeclarator({ id, init }) {
      if (id.type === "Identifier" && init !== null) constants.set(id.name, textOf(init));
    },
  });
  visit(file, text, {
    Literal(node) {
      if (node.value instanceof RegExp) add(node, node.value.source, node.value.flags);
    },
    NewExpression(node) {
      const [pattern, flags] = node.arguments;
      if (node.callee.type !== "Identifier" || node.callee.name !== "RegExp" || pattern === undefined) return;
      add(node, textOf(pattern), flags === undefined ? "" : textOf(flags));
    },
  });
  return found;
}

function visit(file: string, text: string, visitor: Deno.lint.LintVisitor): void {
  const plugin: Deno.lint.Plugin = { name: "expressions", rules: { all: { create: () => visitor } } };
  Deno.lint.runPlugin(plugin, file, text);
}

/** The text that an expression of the language gives, with constants of the same file. */
function valueOf(node: Deno.lint.Node, constants: ReadonlyMap<string, string>): string {
  const of = (inner: Deno.lint.Node) => valueOf(inner, constants);
  switch (node.type) {
    case "Literal":
      return node.value instanceof RegExp ? node.value.source : String(node.value);
    case "Identifier":
      return constants.get(node.name) ?? UNKNOWN;
    case "TemplateLiteral":
      return node.quasis.map(({ cooked }, index) => {
        const hole = node.expressions[index];
        return `${cooked}${hole === undefined ? "" : of(hole)}`;
      }).join("");
    case "TaggedTemplateExpression":
      return node.quasi.quasis.map(({ raw }, index) => {
        const hole = node.quasi.expressions[index];
        return `${raw}${hole === undefined ? "" : of(hole)}`;
      }).join("");
    case "MemberExpression":
      return of(node.object);
    case "BinaryExpression":
      return node.operator === "+" ? of(node.left) + of(node.right) : UNKNOWN;
    default:
      return UNKNOWN;
  }
}
