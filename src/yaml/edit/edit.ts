import { MeshError } from "../../base/errors.ts";
import type { Value } from "../../base/value.ts";
import type { EditOptions } from "./editing.ts";
import { Editor } from "./editor.ts";
import { type ParsedDocument, parseDocument } from "../read/parse.ts";
import { sameValue } from "../../base/values/mod.ts";
import { toYaml } from "../write/to_yaml.ts";
import type { YamlNode } from "../node.ts";

const MAX_PASSES = 5;

/**
 * Constructs that require a check of the edited text: `? ` keys, lines of spaces (part of the previous block scalar),
 * `|+` block scalars, and tags.
 */
const RARE = /^[^\S\n]*\?|^[^\S\n]+$|[|>]\d?\+|[\s{[,]!/m;

/**
 * A lone carriage return: a line break in YAML 1.1 (section 4.2.1), but not in current editors. If it stayed, a
 * line-based edit would treat the whole document as one line, and indent added text by the length of that line.
 */
const LONE_RETURN = /\r(?!\n)/g;

/**
 * Edits the text of a document so that it reads as `next`, and keeps all other bytes, except that lone `\r` line breaks
 * become `\n`. For documents with aliases or constructs in `RARE`, the result is verified: if the result does not
 * read as `next`, the whole content is replaced.
 */
export function editDocument(parsed: ParsedDocument, next: Value, options: EditOptions = {}): string {
  const text = parsed.doc.text;
  if (sameValue(parsed.value, next)) return text;
  const lines = text.replaceAll(LONE_RETURN, "\n");
  if (lines !== text) {
    const edited = editDocument(parseDocument({ ...parsed.doc, text: lines }), next, options);
    return readsAs(edited, next) ? edited : toYaml(next);
  }
  const edited = withoutAddedBreak(text, editText(parsed, next, options));
  const mayAlias = options.restoresAliases === true && text.includes("&");
  const isSure = !parsed.hasAliases && !parsed.isJoined && !mayAlias && !RARE.test(text);
  return isSure || readsAs(edited, next) ? edited : rewrite(parsed, next);
}

function editText(parsed: ParsedDocument, next: Value, options: EditOptions): string {
  let changed: ReadonlySet<YamlNode> = new Set();
  for (let pass = 1;; pass++) {
    const editor = new Editor(withBreak(parsed.doc.text), parsed.root, { changed, ...options });
    const text = editor.run(next);
    const stable = [...editor.touched].every((node) => changed.has(node));
    if (!parsed.hasAliases || stable || pass === MAX_PASSES) return text;
    // This pass changed anchored nodes, so their aliases now have a different value. The next pass replaces these
    // aliases with values.
    changed = new Set([...changed, ...editor.touched]);
  }
}

/** Replaces the whole content. Keeps comments before and after the content if the result reads as `next`. */
function rewrite(parsed: ParsedDocument, next: Value): string {
  const editor = new Editor(withBreak(parsed.doc.text), parsed.root);
  const text = editor.runWhole(next);
  return readsAs(text, next) ? text : toYaml(next);
}

function readsAs(text: string, value: Value): boolean {
  try {
    return sameValue(parseDocument({ text }).value, value);
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    return false;
  }
}

function withBreak(text: string): string {
  return text === "" || text.endsWith("\n") ? text : text + (text.includes("\r\n") ? "\r\n" : "\n");
}

/** Removes the final line break if the text had none before. */
function withoutAddedBreak(before: string, after: string): string {
  return before === "" || before.endsWith("\n") || !after.endsWith("\n")
    ? after
    : after.slice(0, after.endsWith("\r\n") ? -2 : -1);
}
