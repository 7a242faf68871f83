import {
  type DocumentEvent,
  type Event,
  EVENT_ID,
  getScalarValue,
  type MappingEvent,
  type ScalarEvent,
  type SequenceEvent,
} from "js-yaml";
import { copyValue } from "../../base/values/mod.ts";
import { newMap, type Value, type ValueMap } from "../../base/value.ts";
import { AliasBudget } from "./alias_budget.ts";
import { keyText } from "./key_text.ts";
import { mergeInto } from "./merge.ts";
import type { AliasNode, ListNode, MapEntry, MapNode, ScalarNode, ScalarStyle, YamlNode } from "../node.ts";
import { Problem } from "./problem.ts";
import { longTag, resolvePlain, resolveTagged } from "./resolve.ts";
import { skipBlank } from "../scan.ts";
import { tolerantEvents } from "./tolerant_events.ts";

const ABSENT = -1;
const STYLES: readonly ScalarStyle[] = ["empty", "plain", "single", "double", "literal", "folded"];
const QUOTED = 2;
const LITERAL = 4;
const KEEP = 3;

/** Characters that may precede a key, its anchor or its tag. */
const BEFORE_KEY = /[\s{[,\uFEFF]/;

/** A duplicate key, at its second position. */
export interface DuplicateKey {
  readonly key: string;
  readonly offset: number;
}

/** The first document of a text, as nodes. Later documents are ignored, as in kubectl. */
export interface Composition {
  readonly root: YamlNode | undefined;
  readonly duplicates: readonly DuplicateKey[];
  /** Whether the document has aliases or merges. */
  readonly hasAliases: boolean;
  /** Whether lines are indented less than YAML requires. */
  readonly isJoined: boolean;
  /** Whether a second document follows in the text (after `...`). */
  readonly hasMore: boolean;
}

/**
 * Reads a text in one pass into nodes with value and position. Throws js-yaml's exception for invalid syntax, and a
 * `Problem` for valid YAML that kubectl rejects.
 */
export function compose(text: string, maxDepth: number): Composition {
  const { events, isJoined } = tolerantEvents(text, maxDepth);
  const composer = new Composer(text, events);
  const root = composer.document();
  const { duplicates, hasAliases } = composer;
  return { root, duplicates: inOrder(duplicates), hasAliases, isJoined, hasMore: composer.hasMore() };
}

/** Sorts duplicates by their position in the text. */
export function inOrder(duplicates: readonly DuplicateKey[]): DuplicateKey[] {
  return duplicates.toSorted((a, b) => a.offset - b.offset);
}

type Properties = Pick<ScalarEvent, "anchorStart" | "anchorEnd" | "tagStart" | "tagEnd">;

class Composer {
  readonly duplicates: DuplicateKey[] = [];
  hasAliases = false;
  readonly #anchors = new Map<string, YamlNode | undefined>();
  readonly #budget = new AliasBudget();
  #directives: DocumentEvent["directives"] = [];
  /** The next event. */
  #next = 0;
  /** The end of the last token. */
  #cursor = 0;

  constructor(readonly text: string, readonly events: readonly Event[]) {}

  document(): YamlNode | undefined {
    const event = this.#take();
    if (event?.type !== EVENT_ID.DOCUMENT) return undefined;
    this.#directives = event.directives;
    if (event.explicitStart) this.#cursor = this.text.indexOf("---") + 3;
    const root = this.#node(undefined);
    this.#refuseInfinity(root);
    this.#take();
    return root;
  }

  hasMore(): boolean {
    return this.events.length > this.#next;
  }

  #take(): Event | undefined {
    return this.events[this.#next++];
  }

  #node(parent: "map" | "list" | undefined): YamlNode {
    const event = this.#take();
    switch (event?.type) {
      case EVENT_ID.SCALAR:
        return this.#anchored(this.#scalar(event, parent));
      case EVENT_ID.MAPPING:
        return this.#anchored(this.#map(event));
      case EVENT_ID.SEQUENCE:
        return this.#anchored(this.#list(event));
      case EVENT_ID.ALIAS:
        return this.#alias(event.anchorStart, event.anchorEnd);
      default:
        throw new Problem("The document ends too early", this.#cursor);
    }
  }

  #anchored(node: YamlNode): YamlNode {
    if (node.anchor !== undefined) this.#anchors.set(node.anchor, node);
    return node;
  }

  #scalar(event: ScalarEvent, parent: "map" | "list" | undefined): ScalarNode {
    this.#budget.count();
    const anchor = this.#anchor(event);
    const [start, end] = this.#extent(event, parent);
    this.#cursor = end;
    return {
      kind: "scalar",
      outer: outerStart(event, start),
      start,
      end,
      anchor,
      size: 1,
      style: (event.valueStart === ABSENT ? undefined : STYLES[event.style]) ?? "empty",
      keeps: event.style >= LITERAL && event.chomping === KEEP,
      value: this.#value(event, start),
    };
  }

  /** Start and end of a scalar, including its quotes or header. For an absent scalar, both are its position. */
  #extent(event: ScalarEvent, parent: "map" | "list" | undefined): [number, number] {
    if (event.valueStart === ABSENT) {
      const at = this.#absent(event, parent);
      return [at, at];
    }
    if (event.style >= LITERAL) {
      const from = Math.max(this.#cursor, event.anchorEnd, event.tagEnd);
      return [skipBlank(this.text, from, ":-?"), event.valueEnd];
    }
    const quote = event.style >= QUOTED ? 1 : 0;
    return [event.valueStart - quote, event.valueEnd + quote];
  }

  /** The position of an absent value: after the `:` or `-`. */
  #absent(event: ScalarEvent, parent: "map" | "list" | undefined): number {
    const properties = Math.max(event.anchorEnd, event.tagEnd);
    if (properties !== ABSENT) return properties;
    const sign = parent === "list" ? "-" : ":";
    const at = skipBlank(this.text, this.#cursor);
    return this.text[at] === sign ? at + 1 : this.#cursor;
  }

  #value(event: ScalarEvent, start: number): Value {
    const text = getScalarValue(this.text, event);
    const plain = event.style === 1;
    if (event.tagStart === ABSENT) return plain ? resolvePlain(text) : text.toWellFormed();
    const raw = this.text.slice(event.tagStart, event.tagEnd);
    if (raw === "!") return text;
    const tagged = resolveTagged(longTag(raw, this.#directives), text);
    if ("problem" in tagged) throw new Problem(tagged.problem, start);
    return tagged.value;
  }

  #list(event: SequenceEvent): ListNode {
    const open = this.#open(event);
    const items: YamlNode[] = [];
    while (this.events[this.#next]?.type !== EVENT_ID.POP) {
      const item = this.#node("list");
      this.#refuseInfinity(item);
      items.push(item);
    }
    this.#close(open.flow, "]");
    const size = items.reduce((sum, node) => sum + node.size, 1);
    return { kind: "list", ...open, end: this.#cursor, size, items, value: items.map((item) => item.value) };
  }

  #map(event: MappingEvent): MapNode {
    const open = this.#open(event);
    const entries: MapEntry[] = [];
    const value = newMap();
    /** The keys that come only from `<<`. */
    const merged = new Set<string>();
    while (this.events[this.#next]?.type !== EVENT_ID.POP) {
      const entry = this.#entry();
      if (!open.flow && entries.length > 0) this.#refuseMidLine(entry.keyNode.outer);
      entries.push(entry);
      if (entry.key !== undefined) this.#set(value, entry, merged);
      else mergeInto(value, entry.node, merged);
    }
    this.#close(open.flow && this.text[open.start] === "{", "}");
    const size = entries.reduce((sum, entry) => sum + entry.node.size + 1, 1);
    return { kind: "map", ...open, end: this.#cursor, size, entries, value };
  }

  #entry(): MapEntry {
    const event = this.events[this.#next];
    const keyNode = this.#node(undefined);
    this.#refuseGlued(keyNode.outer);
    const isMerge = event?.type === EVENT_ID.SCALAR && this.#isMerge(event, keyNode);
    if (isMerge) this.hasAliases = true;
    const key = isMerge ? undefined : keyText(keyNode, this.text);
    const node = this.#node("map");
    this.#refuseInfinity(node);
    return { key, keyNode, node };
  }

  /** Rejects a key directly after a quote or bracket (`"a"b: c`). js-yaml accepts it, but kubectl's reader does not. */
  #refuseGlued(start: number): void {
    if (start > 0 && !BEFORE_KEY.test(this.text.charAt(start - 1))) {
      throw new Problem("Text follows a value: quote it as a whole, or start a new line", start);
    }
  }

  /** Rejects a key of a block map after a list item on the same line (`- {a: b} c: d`), which js-yaml accepts. */
  #refuseMidLine(start: number): void {
    let at = start - 1;
    while (" \t".includes(this.text[at] ?? "\n")) at--;
    if ("\n\r?\uFEFF".includes(this.text[at] ?? "\n")) return;
    throw new Problem("Text follows a value: quote it as a whole, or start a new line", start);
  }

  #isMerge(event: ScalarEvent, node: YamlNode): boolean {
    if (node.value !== "<<") return false;
    const tag = event.tagStart === ABSENT
      ? ""
      : longTag(this.text.slice(event.tagStart, event.tagEnd), this.#directives);
    return tag.endsWith(":merge") || (event.style === 1 && tag === "");
  }

  #set(value: ValueMap, { key = "", node, keyNode }: MapEntry, merged: Set<string>): void {
    if (key in value && !merged.delete(key)) this.duplicates.push({ key, offset: keyNode.start });
    value[key] = node.value;
  }

  #open(event: MappingEvent | SequenceEvent) {
    this.#budget.count();
    const anchor = this.#anchor(event);
    // An alias inside the anchored node finds the anchor without a value. This shows that the node contains itself.
    if (anchor !== undefined) this.#anchors.set(anchor, undefined);
    this.#cursor = event.start;
    const flow = event.style === 2;
    if (flow) this.#cursor++;
    return { outer: outerStart(event, event.start), start: event.start, anchor, flow };
  }

  #close(bracketed: boolean, bracket: string): void {
    this.#take();
    if (!bracketed) return;
    const at = skipBlank(this.text, this.#cursor, ",:?");
    if (this.text[at] === bracket) this.#cursor = at + 1;
  }

  #anchor(event: Properties): string | undefined {
    return event.anchorStart === ABSENT ? undefined : this.text.slice(event.anchorStart, event.anchorEnd);
  }

  #alias(start: number, end: number): AliasNode {
    const name = this.text.slice(start, end);
    const target = this.#anchors.get(name);
    if (target === undefined) {
      const why = this.#anchors.has(name)
        ? `The anchor "${name}" contains itself`
        : `The anchor "${name}" is not defined`;
      throw new Problem(why, start - 1);
    }
    this.hasAliases = true;
    this.#budget.expand(target.size, target.value, start - 1);
    this.#cursor = end;
    const at = { outer: start - 1, start: start - 1, end, anchor: undefined };
    return { kind: "alias", ...at, size: target.size, target, value: copyValue(target.value) };
  }

  /**
   * Rejects `.inf` and `.nan` values, as Kubernetes does, because JSON cannot represent them. As map keys they are
   * text.
   */
  #refuseInfinity(node: YamlNode): void {
    if (typeof node.value !== "number" || Number.isFinite(node.value)) return;
    throw new Problem("Kubernetes rejects .inf and .nan", node.start);
  }
}

function outerStart(event: Properties, start: number): number {
  const anchor = event.anchorStart === ABSENT ? start : event.anchorStart - 1;
  return Math.min(anchor, event.tagStart === ABSENT ? start : event.tagStart);
}
