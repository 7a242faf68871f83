import { isList, isMap, type Value, type ValueMap } from "../../value.ts";
import { type Block, entryBlock, isEmpty, itemBlock, type Layout } from "../write/emit.ts";
import { editBlockList } from "./list.ts";
import { editBlockMap } from "./map.ts";
import { editFlowList, editFlowMap, flowReplacement } from "./flow.ts";
import { contentEnd, isBlockScalar, layoutOf, startsLine } from "./line_layout.ts";
import type { ListNode, MapNode, ScalarNode, YamlNode } from "../node.ts";
import { lineStart, nextLine } from "../position.ts";
import { sameValue } from "../../same_value.ts";
import { endOfLine } from "../scan.ts";
import { requoted } from "../write/scalar_text.ts";
import { TextEdits } from "./text_edits.ts";
import { yamlText } from "../write/to_yaml.ts";

/** The key that tells the items of the list at a path apart. */
export type ListKey = (path: readonly (string | number)[]) => string | undefined;

/** Where a node stands, which decides how another value is written there. */
export type Slot =
  | { readonly kind: "root" }
  /** After the `:` of a key at `column`; `after` is the offset after the colon. */
  | { readonly kind: "entry"; readonly column: number; readonly after: number }
  /** After the `-` at `column`; `after` is the offset after the dash. */
  | { readonly kind: "item"; readonly column: number; readonly after: number }
  | { readonly kind: "flow"; readonly owner: MapNode | ListNode };

type Path = (string | number)[];

/** Compares a node tree with a new value and collects the changes of the text. */
export class Editor {
  readonly edits = new TextEdits();
  readonly layout: Layout;
  /** Nodes with an anchor that have another value now or are gone. */
  readonly touched = new Set<YamlNode>();
  readonly text: string;
  readonly root: YamlNode | undefined;
  readonly #changed: ReadonlySet<YamlNode>;
  readonly #listKey: ListKey | undefined;
  readonly #path: Path = [];

  constructor(
    text: string,
    root: YamlNode | undefined,
    options: { changed: ReadonlySet<YamlNode>; listKey: ListKey | undefined },
  ) {
    this.text = text;
    this.root = root;
    this.layout = layoutOf(text, root);
    this.#changed = options.changed;
    this.#listKey = options.listKey;
  }

  /** The text with the fewest changes. */
  run(next: Value): string {
    if (this.root === undefined) return this.runWhole(next);
    this.edit(this.root, next, { kind: "root" });
    return this.edits.apply(this.text);
  }

  /** The text with the whole content written anew. */
  runWhole(next: Value): string {
    this.#replaceRoot(this.root, next);
    return this.edits.apply(this.text);
  }

  /** Makes a node read as `next`. */
  edit(node: YamlNode, next: Value, slot: Slot): void {
    const same = sameValue(node.value, next);
    if (same && !this.#standsForChanged(node)) return;
    if (!same && node.anchor !== undefined) this.touched.add(node);
    if (node.kind === "map" && isMap(next)) this.#editMap(node, next, slot);
    else if (node.kind === "list" && isList(next)) this.#editList(node, next, slot);
    else this.replace(node, next, slot);
  }

  /** Makes the value of a key or of an item read as `next`, with its step on the path. */
  editChild(step: string | number, node: YamlNode, next: Value, slot: Slot): void {
    this.#path.push(step);
    this.edit(node, next, slot);
    this.#path.pop();
  }

  /** The identity key that the caller named for the list at the current place. */
  listKey(): string | undefined {
    return this.#listKey?.(this.#path);
  }

  /** Writes `next` in the place of a node. */
  replace(node: YamlNode, next: Value, slot: Slot): void {
    this.forget(node);
    if (slot.kind === "root") this.#replaceRoot(node, next);
    else if (slot.kind === "flow") flowReplacement(this, node, next, slot.owner);
    else this.#replaceBlock(node, next, slot);
  }

  /** Notes that the anchors of a subtree are gone. */
  forget(node: YamlNode): void {
    if (node.anchor !== undefined) this.touched.add(node);
    if (node.kind === "list") { for (const item of node.items) this.forget(item); }
    if (node.kind === "map") { for (const entry of node.entries) this.forget(entry.node); }
  }

  #editMap(node: MapNode, next: ValueMap, slot: Slot): void {
    const refill = isEmpty(next) || node.entries.length === 0 || !this.#mergesHold(node, next);
    if (refill) this.replace(node, next, slot);
    else if (!node.flow) editBlockMap(this, node, next, slot);
    else if (this.text[node.start] === "{") editFlowMap(this, node, next);
    else this.replace(node, next, slot);
  }

  #editList(node: ListNode, next: Value[], slot: Slot): void {
    if (isEmpty(next) || node.items.length === 0) this.replace(node, next, slot);
    else if (node.flow) editFlowList(this, node, next);
    else editBlockList(this, node, next, slot);
  }

  /** Whether merges `<<` may stay: their maps are the old ones and none of their keys has to go. */
  #mergesHold(node: MapNode, next: ValueMap): boolean {
    if (node.entries.every((entry) => entry.key !== undefined)) return true;
    const written = new Set(node.entries.map((entry) => entry.key));
    const merges = node.entries.filter((entry) => entry.key === undefined);
    if (merges.some((entry) => this.#standsForChanged(entry.node))) return false;
    return Object.keys(node.value).every((key) => key in next || written.has(key));
  }

  #standsForChanged(node: YamlNode): boolean {
    if (this.#changed.size === 0) return false;
    if (node.kind === "alias") return this.#changed.has(node.target);
    if (node.kind === "list") return node.items.some((item) => this.#standsForChanged(item));
    return node.kind === "map" && node.entries.some((entry) => this.#standsForChanged(entry.node));
  }

  #replaceRoot(node: YamlNode | undefined, next: Value): void {
    const lines = yamlText(next, this.layout);
    if (node === undefined || (node.kind === "scalar" && node.style === "empty" && node.outer === node.end)) {
      this.edits.insert(documentEnd(this.text), lines);
      return;
    }
    const start = startsLine(this.text, node.outer) ? lineStart(this.text, node.outer) : node.outer;
    const end = contentEnd(this.text, node);
    this.edits.replace(start, end === lineStart(this.text, end) ? end : nextLine(this.text, end), lines);
  }

  #replaceBlock(node: YamlNode, next: Value, slot: Slot & { kind: "entry" | "item" }): void {
    const block = this.#blockFor(node, next, slot);
    const old = oldBlock(this.text, node, slot);
    const gap = block.head !== "" && old.headStart === slot.after ? " " : "";
    const headStart = block.head === "" ? slot.after : old.headStart;
    this.edits.replace(headStart, old.headEnd, gap + block.head);
    this.edits.replace(old.bodyStart, Math.max(old.bodyStart, old.bodyEnd), block.body);
  }

  #blockFor(node: YamlNode, next: Value, slot: Slot & { kind: "entry" | "item" }): Block {
    const quoted = node.kind === "scalar" && typeof next === "string" && !next.includes("\n")
      ? quotesOf(node)
      : undefined;
    if (quoted !== undefined) return { head: requoted(String(next), quoted), body: "" };
    return slot.kind === "entry"
      ? entryBlock(next, slot.column, this.layout)
      : itemBlock(next, slot.column, this.layout);
  }
}

/** The quotes in which a scalar stands. */
export function quotesOf(node: ScalarNode): "single" | "double" | undefined {
  return node.style === "single" || node.style === "double" ? node.style : undefined;
}

interface OldBlock {
  readonly headStart: number;
  readonly headEnd: number;
  readonly bodyStart: number;
  readonly bodyEnd: number;
}

/** What a node takes up on the line of its key or dash, and the whole lines after it. */
function oldBlock(text: string, node: YamlNode, slot: { readonly after: number }): OldBlock {
  const bodyEnd = lineAfter(text, contentEnd(text, node));
  if (node.kind === "scalar" && isBlockScalar(node)) {
    return {
      headStart: node.outer,
      headEnd: headerEnd(text, node.start),
      bodyStart: nextLine(text, node.start),
      bodyEnd,
    };
  }
  if (node.kind === "scalar" || node.kind === "alias" || node.flow) {
    const empty = node.outer === node.end;
    return {
      headStart: empty ? slot.after : node.outer,
      headEnd: Math.max(node.end, slot.after),
      bodyStart: bodyEnd,
      bodyEnd,
    };
  }
  // A collection on the lines after its key or dash, or beginning on the line of its dash.
  const sameLine = lineStart(text, node.start) === lineStart(text, slot.after);
  const headEnd = sameLine ? endOfLine(text, node.start) : propertiesEnd(text, node, slot.after);
  const headStart = sameLine ? node.outer : slot.after;
  return { headStart, headEnd, bodyStart: nextLine(text, headEnd), bodyEnd };
}

function lineAfter(text: string, offset: number): number {
  return offset === lineStart(text, offset) ? offset : nextLine(text, offset);
}

function headerEnd(text: string, start: number): number {
  let at = start + 1;
  while (/[-+0-9]/.test(text.charAt(at))) at++;
  return at;
}

/** After the anchor and tag that stand before a collection; `after` if there are none. */
function propertiesEnd(text: string, node: YamlNode, after: number): number {
  if (node.outer === node.start) return after;
  const properties = /(?:[&!]\S*[ \t]*)+/y;
  properties.lastIndex = node.outer;
  const found = properties.exec(text)?.[0] ?? "";
  return node.outer + found.trimEnd().length;
}

/** Where the content of a document without content would end: before a line `...`. */
function documentEnd(text: string): number {
  const end = /^\.\.\.(?:\s|$)/m.exec(text);
  return end?.index ?? text.length;
}
