/**
 * YAML as Kubernetes reads and writes it. In: the bytes of a file. Out: its documents with their text (`splitDocuments`),
 * each read as kubectl reads it, with the place of every node (`parseDocument`), values as text that kubectl reads back
 * (`toYaml`), and a document's text with a change of its value and nothing else touched (`editDocument`).
 */
export { parseCommon } from "./read/common.ts";
export { type ParsedDocument, parseDocument, parseYaml, type YamlWarning } from "./read/parse.ts";
export { splitDocuments, type SplitOptions, splitText } from "./split/split.ts";
export type { SourceDocument } from "./source_document.ts";
export { toYaml, type ToYamlOptions } from "./write/to_yaml.ts";
export { scalarText } from "./write/scalar_text.ts";
export { editDocument, type EditOptions } from "./edit/edit.ts";
