/**
 * YAML as Kubernetes reads and writes it. `splitDocuments` splits the bytes of a file into documents. `parseDocument`
 * returns a document's value as kubectl reads it, with the position of every node. `toYaml` writes a value.
 * `editDocument` changes values in a document's text and keeps all other bytes.
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
