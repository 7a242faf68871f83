/**
 * YAML as Kubernetes reads and writes it. In: the bytes of a file. Out: its documents with their text
 * (`splitDocuments`), their values as kubectl reads them, with the position of every node (`parseDocument`), a value as
 * YAML (`toYaml`), and a document's text after an edit that keeps all other bytes (`editDocument`).
 */
export { parseCommon } from "./read/common.ts";
export { type ParsedDocument, parseDocument, parseYaml } from "./read/parse.ts";
export { splitDocuments, splitText } from "./split/split.ts";
export type { SourceDocument } from "./source_document.ts";
export { toYaml } from "./write/to_yaml.ts";
export { floatText } from "./read/number_text.ts";
export { scalarText } from "./write/scalar_text.ts";
export { editDocument } from "./edit/edit.ts";
export { TextEdits } from "./edit/text_edits.ts";
