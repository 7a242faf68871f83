/** A parsed regular expression. */
export type Node =
  | { readonly kind: "empty" }
  | CharacterNode
  | { readonly kind: "assertion"; readonly name: Assertion }
  | { readonly kind: "capture"; readonly index: number; readonly body: Node }
  | { readonly kind: "sequence"; readonly parts: readonly Node[] }
  | { readonly kind: "choice"; readonly options: readonly Node[] }
  | RepeatNode;

/** One character of a set, which is told as JavaScript source for the flag `u`. */
export interface CharacterNode {
  readonly kind: "character";
  readonly source: string;
}

/** As often as `min` to `max` (may be `Infinity`) times, `lazy`: rather less often. */
export interface RepeatNode {
  readonly kind: "repeat";
  readonly body: Node;
  readonly min: number;
  readonly max: number;
  readonly lazy: boolean;
}

/** What holds between two characters. */
export type Assertion = "start" | "end" | "lineStart" | "lineEnd" | "wordEdge" | "noWordEdge";

export const EMPTY: Node = { kind: "empty" };

/** Parts one after the other. */
export function sequenceOf(parts: readonly Node[]): Node {
  const [only = EMPTY] = parts;
  return parts.length < 2 ? only : { kind: "sequence", parts };
}

/** The first of the options that leads to a match. */
export function choiceOf(options: readonly Node[]): Node {
  const [only = EMPTY] = options;
  return options.length < 2 ? only : { kind: "choice", options };
}

/** The nodes of which a node is made. */
export function childrenOf(node: Node): readonly Node[] {
  switch (node.kind) {
    case "capture":
    case "repeat":
      return [node.body];
    case "sequence":
      return node.parts;
    case "choice":
      return node.options;
    default:
      return [];
  }
}

/** Whether an expression can match without a character. */
export function isNullable(node: Node): boolean {
  switch (node.kind) {
    case "character":
      return false;
    case "repeat":
      return node.min === 0 || isNullable(node.body);
    case "choice":
      return node.options.some(isNullable);
    default:
      return childrenOf(node).every(isNullable);
  }
}

/** How many characters, places between them and groups an expression has, repetitions written out. */
export function sizeOf(node: Node): number {
  const parts = childrenOf(node).reduce((sum, child) => sum + sizeOf(child), 0);
  if (node.kind !== "repeat") return parts + 1;
  return parts * Math.max(1, node.max === Infinity ? node.min : node.max) + 1;
}
