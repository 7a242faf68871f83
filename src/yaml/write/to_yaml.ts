import { isList, isMap, type Value } from "../../base/value.ts";
import { isEmpty, type Layout, listLines, literalBlock, mapLines } from "./emit.ts";
import { scalarText } from "./scalar_text.ts";

/** kubectl's layout, except that keys keep their order. */
const LAYOUT: Layout = { step: 2, listIndent: 0, sortKeys: false, eol: "\n", keepBlocks: true };

/**
 * A value as YAML that kubectl reads back as the same value, with a final line break. Uses block style. Strings are
 * quoted if a YAML 1.1 reader would read another value; strings of several lines are literal blocks. Integers are
 * exact; floats are written as Go writes them. Throws a MeshError for numbers that JSON cannot represent.
 */
export function toYaml(value: Value, layout: Partial<Layout> = {}): string {
  return yamlText(value, { ...LAYOUT, ...layout });
}

/** Writes a value as a whole document in a given layout. */
export function yamlText(value: Value, layout: Layout): string {
  if (isEmpty(value)) return (isList(value) ? "[]" : "{}") + layout.eol;
  if (isList(value)) return listLines(value, 0, layout);
  if (isMap(value)) return mapLines(value, 0, layout);
  // Readers disagree about the indentation indicator of a block at the root: use only blocks without one.
  const literal = typeof value === "string" && !/^\s/.test(value) ? literalBlock(value, 0, layout) : undefined;
  return literal === undefined ? scalarText(value) + layout.eol : literal.head + layout.eol + literal.body;
}
