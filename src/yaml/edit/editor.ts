import { isList, isMap, type Value, type ValueMap } from "../../base/value.ts";
import { type Block, entryBlock, isEmpty, itemBlock, type Layout } from "../write/emit.ts";
import { type Editing, type EditOptions, inOldQuotes, type Slot } from "./editing.ts";
import { editBlockList } from "./list.ts";
import { editBlockMap } from "./map.ts";
import { editFlowList, editFlowMap, flowReplacement } from "./flow.ts";
import { contentEnd, isBlockScalar, layoutOf, startsLine } from "./line_layout.ts";
import type { ListNode, MapNode, YamlNode } from "../node.ts";
import { Lines } from "../position.ts";
import { sameValue } from "../../base/values/mod.ts";
import { endOfLine } from "../scan.ts";
import { TextEdits } from "./text_edits.ts";
import { yamlText } from "../write/to_yaml.ts";

/** Compares a node tree with a new value and collects the edits of the text. */
export class Editor implements Editing {
  edits = new TextEdits();
  readonly layout: Layout;
  /** The anchored nodes that this pass changes or removes. */
  readonly touched = new Set<YamlNode>();
  readonly lines: Lines;
  readonly keepsComments: boolean;
  readonly #changed: ReadonlySet<YamlNode>;
  /** The anchored nodes without an alias, with their new values. */
  readonly #unused: Map<YamlNode, Value>;

  /** `changed` are the anchored nodes that an earlier pass changed. */
  constructor(
    readonly text: string,
    readonly root: YamlNode | undefined,
    { changed = new Set<YamlNode>(), keepsComments = false, restoresAliases = false }:
      & { readonly changed?: ReadonlySet<YamlNode> }
      & EditOptions = {},
  ) {
    this.lines = new Lines(text);
    this.layout = layoutOf(this.lines, root);
    this.keepsComments = keepsComments;
    this.#changed = changed;
    this.#unused = restoresAliases ? unusedAnchors(root) : new Map();
  }

  /** Returns the text with as few changes as possible. */
  run(next: Value): string {
    if (this.root === undefined) return this.runWhole(next);
    this.edit(this.root, next, { kind: "root" });
    return this.edits.apply(this.text);
  }

  /** Returns the text with its whole content replaced. */
  runWhole(next: Value): string {
    this.#replaceRoot(this.root, next);
    return this.edits.apply(this.text);
  }

  edit(node: YamlNode, next: Value, slot: Slot): void {
    const same = sameValue(node.value, next);
    if (same && !this.#standsForChanged(node)) return;
    if (this.#writesAlias(node, next, slot)) return;
    if (!same && node.anchor !== undefined) this.touched.add(node);
    if (node.kind === "map" && isMap(next)) this.#editMap(node, next, slot);
    else if (node.kind === "list" && isList(next)) this.#editList(node, next, slot);
    else this.replace(node, next, slot);
  }

  editedText(node: YamlNode, next: Value, at: { readonly slot: Slot; readonly from: number; readonly to: number }) {
    const outer = this.edits;
    this.edits = new TextEdits();
    this.edit(node, next, at.slot);
    const text = this.edits.apply(this.text, at.from, at.to);
    this.edits = outer;
    return text;
  }

  replace(node: YamlNode, next: Value, slot: Slot): void {
    this.forget(node);
    if (slot.kind === "root") this.#replaceRoot(node, next);
    else if (slot.kind === "flow") flowReplacement(this, node, next, slot.owner);
    else this.#writeBlock(node, this.#blockFor(node, next, slot), slot);
  }

  /**
   * Returns the name of an anchor that has no alias and that may have had one at this node. The anchored node must come
   * before this node, and must have the value `next`.
   */
  #anchorOf(node: YamlNode, next: Value): string | undefined {
    if (typeof next !== "object" || node.anchor !== undefined) return undefined;
    for (const [anchored, value] of this.#unused) {
      if (anchored.end <= node.start && sameValue(value, next)) return anchored.anchor;
    }
    return undefined;
  }

  /** If there was an alias in place of this node before an earlier edit, writes the alias and returns true. */
  #writesAlias(node: YamlNode, next: Value, slot: Slot): boolean {
    if (this.#unused.has(node)) this.#unused.set(node, next);
    const anchor = this.#unused.size === 0 ? undefined : this.#anchorOf(node, next);
    if (anchor === undefined || slot.kind === "root") return false;
    this.forget(node);
    const head = `*${anchor}`;
    if (slot.kind === "flow") this.edits.replace(node.outer, node.end, head);
    else this.#writeBlock(node, { head, body: "" }, slot);
    return true;
  }

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

  /** Whether the map's merges (`<<`) can stay: if the merged maps are unchanged and `next` has all their keys. */
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
    const written = yamlText(next, this.layout);
    if (node === undefined || (node.kind === "scalar" && node.style === "empty" && node.outer === node.end)) {
      this.edits.insert(documentEnd(this.text), written);
      return;
    }
    const start = startsLine(this.lines, node.outer) ? this.lines.start(node.outer) : node.outer;
    this.edits.replace(start, lineAfter(this.lines, contentEnd(this.lines, node)), written);
  }

  #writeBlock(node: YamlNode, block: Block, slot: Slot & { kind: "entry" | "item" }): void {
    const old = oldBlock(this.lines, node, slot);
    const gap = block.head !== "" && old.headStart === slot.after ? " " : "";
    const headStart = block.head === "" ? slot.after : old.headStart;
    this.edits.replace(headStart, old.headEnd, gap + block.head);
    this.edits.replace(old.bodyStart, Math.max(old.bodyStart, old.bodyEnd), block.body);
  }

  #blockFor(node: YamlNode, next: Value, slot: Slot & { kind: "entry" | "item" }): Block {
    const quoted = inOldQuotes(node, next);
    if (quoted !== undefined) return { head: quoted, body: "" };
    // Removing the value's lines leaves the key without a value, which means null.
    if (next === null && slot.kind === "entry" && "flow" in node && !node.flow) return { head: "", body: "" };
    return slot.kind === "entry"
      ? entryBlock(next, slot.column, this.layout)
      : itemBlock(next, slot.column, this.layout);
  }
}

/** The anchored nodes that no alias refers to, with their values. */
function unusedAnchors(root: YamlNode | undefined): Map<YamlNode, Value> {
  const anchored = new Map<YamlNode, Value>();
  const used = new Set<YamlNode>();
  const visit = (node: YamlNode): void => {
    if (node.kind === "alias") used.add(node.target);
    else if (node.anchor !== undefined) anchored.set(node, node.value);
    if (node.kind === "list") node.items.forEach(visit);
    if (node.kind === "map") node.entries.forEach((entry) => visit(entry.node));
  };
  if (root !== undefined) visit(root);
  for (const node of used) anchored.delete(node);
  return anchored;
}

interface OldBlock {
  readonly headStart: number;
  readonly headEnd: number;
  readonly bodyStart: number;
  readonly bodyEnd: number;
}

/** The extent of a node: its part on the line of its key or dash, and the whole lines after that. */
function oldBlock(lines: Lines, node: YamlNode, slot: { readonly after: number }): OldBlock {
  const { text } = lines;
  const bodyEnd = lineAfter(lines, contentEnd(lines, node));
  if (node.kind === "scalar" && isBlockScalar(node)) {
    return { headStart: node.outer, headEnd: headerEnd(text, node.start), bodyStart: lines.next(node.start), bodyEnd };
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
  // A collection starts on the line of its dash, or after the line of its key or dash.
  const sameLine = lines.start(node.start) === lines.start(slot.after);
  const headEnd = sameLine ? endOfLine(text, node.start) : propertiesEnd(text, node, slot.after);
  const headStart = sameLine ? node.outer : slot.after;
  return { headStart, headEnd, bodyStart: lines.next(headEnd), bodyEnd };
}

function lineAfter(lines: Lines, offset: number): number {
  return offset === lines.start(offset) ? offset : lines.next(offset);
}

function headerEnd(text: string, start: number): number {
  let at = start + 1;
  while (/[-+0-9]/.test(text.charAt(at))) at++;
  return at;
}

/** The offset after a collection's anchor and tag; `after` if it has neither. */
function propertiesEnd(text: string, node: YamlNode, after: number): number {
  if (node.outer === node.start) return after;
  const properties = /(?:[&!]\S*[ \t]+)*(?:[&!]\S*)?/y;
  properties.lastIndex = node.outer;
  const found = properties.exec(text)?.[0] ?? "";
  return node.outer + found.trimEnd().length;
}

/** The end of the content: before a line `...`. */
function documentEnd(text: string): number {
  const end = /^\.\.\.(?:\s|$)/m.exec(text);
  return end?.index ?? text.length;
}
