import type { Value } from "../../value.ts";
import { Editor, type ListKey } from "./editor.ts";
import { type ParsedDocument, parseDocument } from "../read/parse.ts";
import { sameValue } from "../../same_value.ts";
import { toYaml } from "../write/to_yaml.ts";
import type { YamlNode } from "../node.ts";

/** How a document is edited. */
export interface EditOptions {
  /** The key that tells the items of the list at a path apart; `undefined` for the usual ones (`name`, `mountPath`, …). */
  readonly listKey?: ListKey;
  /** Read the result again and write the whole document anew if it is not `next`. */
  readonly verify?: boolean;
}

const MAX_PASSES = 5;

/** `? ` keys, `|+` blocks and tags. */
const RARE = /^\s*\?|[|>]\d?\+|[\s{[,]!/m;

/**
 * The text of a document with as few changes as it takes to read as `next`: everything else keeps its bytes. Documents
 * with aliases, `|+`, `? ` keys or tags are always read again; if an edit failed there, the content is written anew.
 */
export function editDocument(parsed: ParsedDocument, next: Value, options: EditOptions = {}): string {
  const text = parsed.doc.text;
  if (sameValue(parsed.value, next)) return text;
  const edited = withoutAddedBreak(text, editText(parsed, next, options));
  const unsure = options.verify === true || parsed.hasAliases || RARE.test(text);
  return !unsure || readsAs(edited, next) ? edited : rewrite(parsed, next);
}

function editText(parsed: ParsedDocument, next: Value, options: EditOptions): string {
  let changed: ReadonlySet<YamlNode> = new Set();
  for (let pass = 1;; pass++) {
    const editor = new Editor(withBreak(parsed.doc.text), parsed.root, { changed, listKey: options.listKey });
    const text = editor.run(next);
    const stable = [...editor.touched].every((node) => changed.has(node));
    if (!parsed.hasAliases || stable || pass === MAX_PASSES) return text;
    // Aliases of what this pass changed stand for something else now: the next pass writes them out.
    changed = new Set([...changed, ...editor.touched]);
  }
}

/** The whole content anew, comments before and after it kept if that reads well. */
function rewrite(parsed: ParsedDocument, next: Value): string {
  const editor = new Editor(withBreak(parsed.doc.text), parsed.root, { changed: new Set(), listKey: undefined });
  const text = editor.runWhole(next);
  return readsAs(text, next) ? text : toYaml(next);
}

function readsAs(text: string, value: Value): boolean {
  try {
    return sameValue(parseDocument({ text }).value, value);
  } catch {
    return false;
  }
}

function withBreak(text: string): string {
  return text === "" || text.endsWith("\n") ? text : text + lineBreak(text);
}

/** A file without a line break at its end stays so. */
function withoutAddedBreak(before: string, after: string): string {
  return before === "" || before.endsWith("\n") || !after.endsWith("\n")
    ? after
    : after.slice(0, -lineBreak(before).length);
}

function lineBreak(text: string): string {
  return text.includes("\r\n") ? "\r\n" : "\n";
}
