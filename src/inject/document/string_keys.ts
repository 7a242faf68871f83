import { type ParsedDocument, parseDocument, scalarText, TextEdits } from "../../yaml/mod.ts";

/** Matches keys that YAML 1.1 may not read as strings. Expects lower-case text: V8 compiles the `i` flag slowly. */
const SUSPECT = /(?:^|[\s{,])(?:y|yes|n|no|on|off|true|false|~|null|[-+]?\.?\d[^\s:,{]*)\s*:(?:\s|$)/m;

type Node = NonNullable<ParsedDocument["root"]>;

/**
 * Replaces keys such as `yes:` and `010:` with the strings that kubectl reads (`"true":`, `"8":`), because YAML parsers differ
 * on such keys. Returns the same document if it does not contain such keys.
 */
export function withStringKeys(parsed: ParsedDocument): ParsedDocument {
  if (parsed.root === undefined || !SUSPECT.test(parsed.doc.text.toLowerCase())) return parsed;
  const edits = new TextEdits();
  collect(parsed.root, parsed.doc.text, edits);
  const text = edits.apply(parsed.doc.text);
  return text === parsed.doc.text ? parsed : parseDocument({ ...parsed.doc, text });
}

function collect(node: Node, text: string, edits: TextEdits): void {
  if (node.kind === "list") node.items.forEach((item) => collect(item, text, edits));
  if (node.kind !== "map") return;
  for (const { key, keyNode, node: value } of node.entries) {
    if (key !== undefined) quoteKey(key, keyNode, text, edits);
    collect(value, text, edits);
  }
}

/** Quotes a plain key if a YAML parser might not read its text as a string. */
function quoteKey(key: string, node: Node, text: string, edits: TextEdits): void {
  if (node.kind !== "scalar" || node.style !== "plain") return;
  const quoted = scalarText(key);
  const written = text.slice(node.start, node.end);
  if (quoted !== written && (written !== key || quoted.startsWith('"'))) edits.replace(node.start, node.end, quoted);
}
