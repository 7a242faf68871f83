import type { Value } from "../../base/value.ts";
import type { ListNode, MapNode, YamlNode } from "../node.ts";
import type { Lines } from "../position.ts";
import type { Layout } from "../write/emit.ts";
import { requoted } from "../write/scalar_text.ts";
import type { TextEdits } from "./text_edits.ts";

/** Options of an edit. */
export interface EditOptions {
  /** Keeps the comments above and below a removed node, which are otherwise removed with the node. */
  readonly keepsComments?: boolean;
  /**
   * Restores aliases that an earlier edit replaced with values. A node becomes an alias if the node's new value equals
   * the value of an earlier anchor that has no alias.
   */
  readonly restoresAliases?: boolean;
}

/** The position of a node, which decides how a new value is written there. */
export type Slot =
  | { readonly kind: "root" }
  /** After the `:` of a key at `column`; `after` is the offset after the colon. */
  | { readonly kind: "entry"; readonly column: number; readonly after: number }
  /** After the `-` at `column`; `after` is the offset after the dash. */
  | { readonly kind: "item"; readonly column: number; readonly after: number }
  | { readonly kind: "flow"; readonly owner: MapNode | ListNode };

/** The editor's interface for the edits of maps, lists and flow collections, which call the editor for child nodes. */
export interface Editing {
  readonly text: string;
  /** The lines of `text`. */
  readonly lines: Lines;
  readonly root: YamlNode | undefined;
  readonly edits: TextEdits;
  readonly layout: Layout;
  /** Keeps the comments of removed nodes. */
  readonly keepsComments: boolean;
  /** Edits the text so that a node reads as `next`. */
  edit(node: YamlNode, next: Value, slot: Slot): void;
  /** The text from `from` to `to` around a node, edited so that the node reads as `next`. */
  editedText(
    node: YamlNode,
    next: Value,
    at: { readonly slot: Slot; readonly from: number; readonly to: number },
  ): string;
  /** Replaces the whole text of a node. */
  replace(node: YamlNode, next: Value, slot: Slot): void;
  /** Records that the anchors of a subtree are removed. */
  forget(node: YamlNode): void;
}

/**
 * A new string in the quotes of the old scalar; `undefined` if the old scalar has no quotes or the string has several
 * lines.
 */
export function inOldQuotes(node: YamlNode, next: Value): string | undefined {
  if (node.kind !== "scalar" || typeof next !== "string" || next.includes("\n")) return undefined;
  return node.style === "single" || node.style === "double" ? requoted(next, node.style) : undefined;
}
