import type { Value, ValueMap } from "../base/value.ts";

/** The position of a node in the text, as offsets; the end is exclusive. */
interface NodeBase {
  /** The start of the anchor or tag; `start` if the node has neither. */
  readonly outer: number;
  /** The start of the content: a quote, bracket, first key or `|`. For an absent value, where it would start. */
  readonly start: number;
  /** The end of the content. For a block scalar, the end of its last line. */
  readonly end: number;
  readonly anchor: string | undefined;
  /** The number of nodes in this subtree, counted as if aliases were expanded. */
  readonly size: number;
}

export type ScalarStyle = "empty" | "plain" | "single" | "double" | "literal" | "folded";

export interface ScalarNode extends NodeBase {
  readonly kind: "scalar";
  readonly style: ScalarStyle;
  /** Whether this is a block scalar that keeps its trailing line breaks (`|+`). */
  readonly keeps: boolean;
  readonly value: Value;
}

export interface AliasNode extends NodeBase {
  readonly kind: "alias";
  readonly target: YamlNode;
  /** A copy of the target's value. */
  readonly value: Value;
}

export interface ListNode extends NodeBase {
  readonly kind: "list";
  readonly flow: boolean;
  readonly items: readonly YamlNode[];
  readonly value: Value[];
}

/** One `key: value`, or a merge `<<: *x` if `key` is undefined. */
export interface MapEntry {
  readonly key: string | undefined;
  readonly keyNode: YamlNode;
  readonly node: YamlNode;
}

export interface MapNode extends NodeBase {
  readonly kind: "map";
  readonly flow: boolean;
  /** The entries in the order of the text, including duplicate keys. */
  readonly entries: readonly MapEntry[];
  readonly value: ValueMap;
}

/** A node of a document: its value and position. */
export type YamlNode = ScalarNode | AliasNode | ListNode | MapNode;

/** The target of an alias; any other node itself. */
export function resolved(node: YamlNode): Exclude<YamlNode, AliasNode> {
  return node.kind === "alias" ? resolved(node.target) : node;
}
