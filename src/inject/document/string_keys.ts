import { type ParsedDocument, parseDocument, scalarText } from "../../core/yaml/mod.ts";

/** What may be a key that YAML 1.1 reads as something else than a string, so that most documents need no second look. */
const SUSPECT = /(?:^|[\s{,])(?:y|yes|n|no|on|off|true|false|~|null|[-+]?\.?\d[^\s:]*)\s*:(?:\s|$)/im;

type Node = NonNullable<ParsedDocument["root"]>;

/**
 * The document with keys such as `yes:` and `010:` written as the strings that kubectl makes of them (`"true":`, `"8":`):
 * other readers make something else of them. The same document if it has none.
 */
export function withStringKeys(parsed: ParsedDocument): ParsedDocument {
  if (parsed.root === undefined || !SUSPECT.test(parsed.doc.text)) return parsed;
  const edits: Edit[] = [];
  collect(parsed.root, parsed.doc.text, edits);
  if (edits.length === 0) return parsed;
  let text = parsed.doc.text;
  for (const { start, end, key } of edits.sort((a, b) => b.start - a.start)) {
    text = text.slice(0, start) + key + text.slice(end);
  }
  return parseDocument({ ...parsed.doc, text });
}

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly key: string;
}

function collect(node: Node, text: string, edits: Edit[]): void {
  if (node.kind === "list") node.items.forEach((item) => collect(item, text, edits));
  if (node.kind !== "map") return;
  for (const { key, keyNode, node: value } of node.entries) {
    const edit = key === undefined ? undefined : editOf(key, keyNode, text);
    if (edit !== undefined) edits.push(edit);
    collect(value, text, edits);
  }
}

/** What to write for a plain key that is not written as the string it is read as. */
function editOf(key: string, node: Node, text: string): Edit | undefined {
  if (node.kind !== "scalar" || node.style !== "plain") return undefined;
  const quoted = scalarText(key);
  const written = text.slice(node.start, node.end);
  if (quoted === written || (written === key && !quoted.startsWith('"'))) return undefined;
  return { start: node.start, end: node.end, key: quoted };
}
