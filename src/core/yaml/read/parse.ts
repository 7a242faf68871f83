import { MeshError, type Place } from "../../errors.ts";
import type { Value } from "../../value.ts";
import { composeCommon } from "./common.ts";
import { compose, type Composition } from "./compose.ts";
import { nodeOffset } from "./node_offset.ts";
import type { YamlNode } from "../node.ts";
import { parseError } from "./parse_error.ts";
import { fieldText, placeOf } from "../position.ts";
import type { SourceDocument } from "../source_document.ts";
import { splitText } from "../split/split.ts";

/** How deep maps and lists may be nested. */
const MAX_DEPTH = 100;
/** How long a document may be, in UTF-16 units. */
const MAX_LENGTH = 64 * 1024 * 1024;

/** Something that is read differently from what the text seems to say. */
export interface YamlWarning {
  readonly message: string;
  readonly place: Place;
}

/** A document that was read: its value, and where each part of it stands. */
export interface ParsedDocument {
  readonly doc: SourceDocument;
  /** What kubectl reads; `null` for an empty document. */
  readonly value: Value;
  readonly warnings: readonly YamlWarning[];
  /** The node tree, for edits; `undefined` if the document is empty. */
  readonly root: YamlNode | undefined;
  /** Whether anchors with aliases or merge keys are used. */
  readonly hasAliases: boolean;
  /** Where the node at a path stands, or the nearest ancestor that exists. */
  place(path: readonly (string | number)[]): Place;
}

/**
 * Reads one document as kubectl does (sigs.k8s.io/yaml on go-yaml v2). Limits: depth 100, expansion of aliases as in
 * go-yaml. Throws a MeshError with file, document, line, column and snippet.
 */
export function parseDocument(source: SourceDocument | { text: string; file?: string }): ParsedDocument {
  const doc = sourceOf(source);
  const composition = composeDocument(doc);
  const { root, hasAliases } = composition;
  return {
    doc,
    value: root?.value ?? null,
    warnings: warningsOf(composition, doc),
    root,
    hasAliases,
    place: (path) => ({ ...placeOf(doc, nodeOffset(root, path)), field: fieldText(path) }),
  };
}

/** The value of a text with one document, such as a configuration file; empty documents beside it do not count. */
export function parseYaml(text: string, file?: string): Value {
  const documents = splitText(text, file ?? "").map(parseDocument).filter((document) => document.value !== null);
  const second = documents[1];
  if (second === undefined) return documents[0]?.value ?? null;
  throw new MeshError("Only one document may be in this file", { place: second.place([]) });
}

function sourceOf(source: SourceDocument | { text: string; file?: string }): SourceDocument {
  return "index" in source ? source : { file: source.file ?? "", index: 1, line: 1, text: source.text, separator: "" };
}

function composeDocument(doc: SourceDocument): Composition {
  if (doc.problem !== undefined) throw doc.problem;
  if (doc.text.length > MAX_LENGTH) {
    throw new MeshError(`The document is longer than ${MAX_LENGTH} characters`, {
      place: { file: doc.file, line: doc.line },
    });
  }
  try {
    const text = doc.text.endsWith("\n") ? doc.text : `${doc.text}\n`;
    return composeCommon(text) ?? compose(text, MAX_DEPTH);
  } catch (error) {
    throw parseError(error, doc);
  }
}

function warningsOf(composition: Composition, doc: SourceDocument): YamlWarning[] {
  const warnings = composition.doubled.map(({ key, offset }) => ({
    message: `The key "${key}" is given twice in the same map: the last one counts`,
    place: placeOf(doc, offset),
  }));
  if (!composition.hasMore) return warnings;
  const offset = Math.max(0, doc.text.search(/^\.\.\.\s/m));
  return [...warnings, { message: 'The text after "..." is ignored, as kubectl does', place: placeOf(doc, offset) }];
}
