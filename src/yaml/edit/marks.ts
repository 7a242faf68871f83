/**
 * Marks of replaced aliases. A value in place of the alias `*x` gets the anchor `&was-x`, so that a later edit can restore
 * the alias. An anchor is possible wherever an alias is, and readers of YAML ignore it.
 */
import { isList, isMap, type Value } from "../../base/value.ts";
import { sameValue } from "../../base/values/mod.ts";
import type { AliasNode, YamlNode } from "../node.ts";
import { type Block, entryBlock, isEmpty, itemBlock, type Layout, listLines, mapLines } from "../write/emit.ts";
import type { Slot } from "./editing.ts";

/** Matches the anchor of a mark. The number is there if the document has the name already: some readers refuse doubles. */
const MARK = /^was\d*-(.+)$/;

/** Whether a text may have marks. */
export function hasMarks(text: string): boolean {
  return /&was\d*-/.test(text);
}

/** Makes the marks of one edit. */
export class NewMarks {
  #taken: Set<string> | undefined;
  readonly #counts = new Map<string, number>();

  constructor(readonly root: YamlNode | undefined) {}

  /** The anchor to write in place of an alias, with a space. */
  next({ target: { anchor = "" } }: AliasNode): string {
    const taken = this.#taken ??= anchorsIn(this.root);
    let count = this.#counts.get(anchor) ?? 0;
    let name: string;
    do {
      name = `was${++count === 1 ? "" : count}-${anchor}`;
    } while (taken.has(name));
    this.#counts.set(anchor, count);
    return `&${name} `;
  }
}

function anchorsIn(node: YamlNode | undefined, names = new Set<string>()): Set<string> {
  if (node?.anchor !== undefined) names.add(node.anchor);
  for (const inner of node === undefined ? [] : nodesIn(node)) anchorsIn(inner, names);
  return names;
}

/** The marked nodes of a document, and the values that its anchors get. */
export class MarkedNodes {
  /** The anchored nodes, with their new values. */
  readonly #values = new Map<YamlNode, Value>();
  /** The marked nodes, with the nodes that their aliases stood for. */
  readonly #targets = new Map<YamlNode, YamlNode>();
  /** The marked nodes, and the nodes that contain one. */
  readonly #inside = new Set<YamlNode>();

  constructor(root: YamlNode | undefined) {
    if (root !== undefined) this.#visit(root, new Map());
  }

  /** Collects the nodes. `latest` has the last node so far of each anchor. Returns whether the node is in `#inside`. */
  #visit(node: YamlNode, latest: Map<string, YamlNode>): boolean {
    // A mark has no aliases: an anchor that has one is the user's.
    if (node.kind === "alias") this.#targets.delete(node.target);
    let holds = node.anchor !== undefined && this.#see(node, node.anchor, latest);
    for (const inner of nodesIn(node)) holds = this.#visit(inner, latest) || holds;
    if (holds) this.#inside.add(node);
    return holds;
  }

  /** Collects an anchored node. Returns whether it is marked. */
  #see(node: YamlNode, anchor: string, latest: Map<string, YamlNode>): boolean {
    const target = latest.get(MARK.exec(anchor)?.[1] ?? "");
    if (target !== undefined) this.#targets.set(node, target);
    this.#values.set(node, node.value);
    latest.set(anchor, node);
    return target !== undefined;
  }

  /** Whether a node is marked, or contains a marked node. */
  isIn(node: YamlNode): boolean {
    return this.#inside.has(node);
  }

  change(node: YamlNode, next: Value): void {
    if (node.anchor !== undefined) this.#values.set(node, next);
  }

  remove(node: YamlNode): void {
    this.#values.delete(node);
  }

  /** The name of the alias in whose place this node is; `undefined` if its anchor has another value than `next`. */
  aliasFor(node: YamlNode, next: Value): string | undefined {
    const target = this.#targets.get(node);
    if (target === undefined || target.end > node.outer) return undefined;
    const value = this.#values.get(target);
    return value !== undefined && sameValue(value, next) ? target.anchor : undefined;
  }
}

/** The nodes directly in a node, without keys. */
function nodesIn(node: YamlNode): readonly YamlNode[] {
  if (node.kind === "list") return node.items;
  return node.kind === "map" ? node.entries.map((entry) => entry.node) : [];
}

/** The text of a value with an anchor. The anchor of a collection is on the line of the key or dash, before its lines. */
export function anchoredBlock(
  anchor: string,
  value: Value,
  { kind, column }: Slot & { kind: "entry" | "item" },
  layout: Layout,
): Block {
  const inner = column + "- ".length;
  if (kind === "item" && !isEmpty(value)) {
    if (isMap(value)) return { head: anchor.trimEnd(), body: mapLines(value, inner, layout) };
    if (isList(value)) return { head: anchor.trimEnd(), body: listLines(value, inner, layout) };
  }
  const { head, body } = kind === "entry" ? entryBlock(value, column, layout) : itemBlock(value, column, layout);
  return { head: (anchor + head).trimEnd(), body };
}
