/** Every node has its offset in the template text. Nodes are plain data that JSON can represent. */
interface At {
  readonly pos: number;
}

export type FieldNode = At & { readonly kind: "field"; readonly names: readonly string[] };
export type VariableNode = At & { readonly kind: "variable"; readonly names: readonly string[] };
export type ChainNode = At & { readonly kind: "chain"; readonly node: Operand; readonly names: readonly string[] };
export type IdentifierNode = At & { readonly kind: "identifier"; readonly name: string };
export type DotNode = At & { readonly kind: "dot" };
export type NilNode = At & { readonly kind: "nil" };
export type BoolNode = At & { readonly kind: "bool"; readonly value: boolean };
/** A number or character constant; `constantOf` parses its value. */
export type NumberNode = At & { readonly kind: "number"; readonly text: string };
export type StringNode = At & { readonly kind: "string"; readonly quoted: string; readonly value: string };

/** `$a, $b := cmd | cmd`. */
export type PipeNode = At & {
  readonly kind: "pipe";
  readonly declared: readonly VariableNode[];
  readonly isAssign: boolean;
  readonly commands: readonly CommandNode[];
};

/** `function argument argument`: one or more operands. */
export type CommandNode = At & { readonly kind: "command"; readonly args: readonly [Operand, ...Operand[]] };

/** A node that can be an argument of a command. */
export type Operand =
  | FieldNode
  | VariableNode
  | ChainNode
  | IdentifierNode
  | DotNode
  | NilNode
  | BoolNode
  | NumberNode
  | StringNode
  | PipeNode;

export type TextNode = At & { readonly kind: "text"; readonly text: string };
export type ActionNode = At & { readonly kind: "action"; readonly pipe: PipeNode };
export type BranchNode = At & {
  readonly kind: "if" | "with" | "range";
  readonly pipe: PipeNode;
  readonly list: readonly Statement[];
  readonly otherwise: readonly Statement[] | undefined;
};
export type TemplateNode = At & {
  readonly kind: "template";
  readonly name: string;
  readonly pipe: PipeNode | undefined;
};
export type JumpNode = At & { readonly kind: "break" | "continue" };

/** A part of a template body. */
export type Statement = TextNode | ActionNode | BranchNode | TemplateNode | JumpNode;

/** Any node, for error messages. */
export type Node = Statement | Operand | CommandNode;
