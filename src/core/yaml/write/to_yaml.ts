import { isList, isMap, type Value } from "../../value.ts";
import { isEmpty, type Layout, listLines, mapLines } from "./emit.ts";
import { literalBlock } from "./literal_block.ts";
import { scalarText } from "./scalar_text.ts";

/** How text is laid out; what is not told is as kubectl writes it. */
export interface ToYamlOptions {
  /** Keys in the order in which kubectl writes them; else in the order of the value. */
  readonly sortKeys?: boolean;
  /** Spaces per level, 2 unless told. */
  readonly indent?: number;
  /** Lists deeper than their key; kubectl writes them at the same column. */
  readonly indentLists?: boolean;
  /** The line break, `\n` unless told. */
  readonly eol?: string;
}

/**
 * A value as YAML that kubectl reads back as the same value, with a line break at the end: block style, strings quoted
 * wherever a YAML 1.1 reader would read something else, several lines as a literal block, nothing folded, integers
 * exact, floats as Go writes them. Throws a MeshError for numbers that JSON does not have.
 */
export function toYaml(value: Value, options: ToYamlOptions = {}): string {
  return yamlText(value, layoutOf(options));
}

/** A value as a whole document in a given layout. */
export function yamlText(value: Value, layout: Layout): string {
  if (isEmpty(value)) return (isList(value) ? "[]" : "{}") + layout.eol;
  if (isList(value)) return listLines(value, 0, layout);
  if (isMap(value)) return mapLines(value, 0, layout);
  // The indentation of a block at the root is counted differently by readers: only blocks without indicator.
  const literal = typeof value === "string" && !/^\s/.test(value) ? literalBlock(value, 0, layout) : undefined;
  return literal === undefined ? scalarText(value) + layout.eol : literal.head + layout.eol + literal.body;
}

function layoutOf(options: ToYamlOptions): Layout {
  const step = options.indent ?? 2;
  return {
    step,
    listIndent: options.indentLists === true ? step : 0,
    sortKeys: options.sortKeys ?? false,
    eol: options.eol ?? "\n",
    keepBlocks: true,
  };
}
