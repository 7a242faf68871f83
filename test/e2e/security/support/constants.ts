/** The constants of modules. */
import { dirname, join } from "node:path/posix";

type Node = Deno.lint.Node;

/** A module's own constants by name, and the constants that it imports. A name that is declared twice is in neither. */
export interface Module {
  readonly file: string;
  readonly text: string;
  readonly constants: ReadonlyMap<string, Node>;
  readonly imports: ReadonlyMap<string, { readonly file: string; readonly name: string }>;
}

/** The modules so far, by name and text. */
const modules = new Map<string, Module>();

export function moduleOf(file: string, read: (file: string) => string): Module {
  const text = read(file);
  const key = `${file}\n${text}`;
  const known = modules.get(key) ?? moduleIn(file, text);
  modules.set(key, known);
  return known;
}

function moduleIn(file: string, text: string): Module {
  const constants = new Map<string, Node>();
  const imports = new Map<string, { file: string; name: string }>();
  const declared = new Map<string, number>();
  const declare = (node: Bound) => {
    for (const name of namesIn(node)) declared.set(name, (declared.get(name) ?? 0) + 1);
  };
  const withParameters = ({ params }: { readonly params: readonly Bound[] }) => params.forEach(declare);
  visit(file, text, {
    VariableDeclarator({ id, init, parent }) {
      declare(id);
      const isOfModule = ["Program", "ExportNamedDeclaration"].includes(parent.parent.type);
      if (id.type !== "Identifier" || init === null || !isOfModule) return;
      if (parent.type === "VariableDeclaration" && parent.kind === "const") constants.set(id.name, init);
    },
    ImportDeclaration({ source, specifiers }) {
      for (const each of specifiers) {
        declare(each.local);
        if (each.type !== "ImportSpecifier" || !source.value.startsWith(".")) continue;
        const name = each.imported.type === "Identifier" ? each.imported.name : each.imported.value;
        imports.set(each.local.name, { file: join(dirname(file), source.value), name });
      }
    },
    FunctionDeclaration(node) {
      declare(node.id);
      withParameters(node);
    },
    FunctionExpression: withParameters,
    ArrowFunctionExpression: withParameters,
    ClassDeclaration: ({ id }) => declare(id),
    CatchClause: ({ param }) => declare(param),
  });
  for (const [name, times] of declared) {
    if (times > 1) [constants, imports].forEach((each) => each.delete(name));
  }
  return { file, text, constants, imports };
}

type Bound = Node | Deno.lint.Parameter | null;

/** The names that a pattern of a declaration binds. */
function namesIn(node: Bound): readonly string[] {
  switch (node?.type) {
    case "Identifier":
      return [node.name];
    case "ObjectPattern":
      return node.properties.flatMap((each) => namesIn(each.type === "Property" ? each.value : each));
    case "ArrayPattern":
      return node.elements.flatMap(namesIn);
    case "AssignmentPattern":
      return namesIn(node.left);
    case "RestElement":
      return namesIn(node.argument);
    case "TSParameterProperty":
      return namesIn(node.parameter);
    default:
      return [];
  }
}

/** The value of a constant of this module or, through imports, of another one. */
export function constantOf(
  name: string,
  module: Module,
  read: (file: string) => string,
): { readonly node: Node; readonly module: Module } | undefined {
  const node = module.constants.get(name);
  if (node !== undefined) return { node, module };
  const from = module.imports.get(name);
  return from === undefined ? undefined : constantOf(from.name, moduleOf(from.file, read), read);
}

/** Visits the nodes of a text. Throws if a visitor visits another text. */
export function visit(file: string, text: string, visitor: Deno.lint.LintVisitor): void {
  const plugin: Deno.lint.Plugin = { name: "expressions", rules: { all: { create: () => visitor } } };
  Deno.lint.runPlugin(plugin, file, text);
}
