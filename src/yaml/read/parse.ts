import { MeshError, type Place } from "../../base/errors.ts";
import { fieldText } from "../../base/field_path.ts";
import type { Value } from "../../base/value.ts";
import { composeCommon } from "./common.ts";
import { compose, type Composition } from "./compose.ts";
import { resolved, type YamlNode } from "../node.ts";
import { parseError } from "./parse_error.ts";
import { Lines, placeOf } from "../position.ts";
import type { SourceDocument } from "../source_document.ts";
import { splitText } from "../split/split.ts";

/** Maximum nesting of maps and lists. */
const MAX_DEPTH = 100;
/** Maximum length of a document, in UTF-16 units. */
const MAX_LENGTH = 64 * 1024 * 1024;

/** A warning about text whose value can surprise the author, such as a duplicate key. */
interface YamlWarning {
  readonly message: string;
  readonly place: Place;
}

/** A document: its value, and the position of each part. */
export interface ParsedDocument {
  readonly doc: SourceDocument;
  /** The value that kubectl reads; `null` for an empty document. */
  readonly value: Value;
  readonly warnings: readonly YamlWarning[];
  /** The node tree; `undefined` if the document is empty. */
  readonly root: YamlNode | undefined;
  /** Whether anchors with aliases or merge keys are used. */
  readonly hasAliases: boolean;
  /** Whether lines are indented less than YAML requires, as kubectl accepts. */
  readonly isJoined: boolean;
  /** The position of the node at a path, or of the nearest ancestor that exists. */
  place(path: readonly (string | number)[]): Place;
  /** The text of an unquoted scalar at a path; `undefined` for anything else, and if the path does not exist. */
  written(path: readonly (string | number)[]): string | undefined;
}

/**
 * Reads one document as kubectl does (sigs.k8s.io/yaml on go-yaml v2). Limits: depth 100, expansion of aliases as in
 * go-yaml. Throws a MeshError with file, document, line, column and snippet.
 */
export function parseDocument(source: SourceDocument | { text: string; file?: string }): ParsedDocument {
  const doc = sourceOf(source);
  const composition = composeDocument(doc);
  const { root, hasAliases, isJoined } = composition;
  const lines = new Lines(doc.text);
  return {
    doc,
    value: root?.value ?? null,
    warnings: warningsOf(composition, doc, lines),
    root,
    hasAliases,
    isJoined,
    place: (path) => ({ ...placeOf(doc, walk(root, path).offset, lines), field: fieldText(path) }),
    written: (path) => writtenBy(walk(root, path).node, doc.text),
  };
}

/** The value of a text with one document, such as a configuration file; empty documents are ignored. */
export function parseYaml(text: string, file?: string): Value {
  const documents = splitText(text, file ?? "").map(parseDocument).filter((document) => document.value !== null);
  const second = documents[1];
  if (second === undefined) return documents[0]?.value ?? null;
  throw new MeshError("The file has more than one document", { place: second.place([]) });
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

function warningsOf(composition: Composition, doc: SourceDocument, lines: Lines): YamlWarning[] {
  const warnings = composition.duplicates.map(({ key, offset }) => ({
    message: `The key "${key}" is duplicated in its map: the last value is used`,
    place: placeOf(doc, offset, lines),
  }));
  if (!composition.hasMore) return warnings;
  const offset = Math.max(0, doc.text.search(/^\.\.\.\s/m));
  return [...warnings, {
    message: 'The text after "..." is ignored, as kubectl does',
    place: placeOf(doc, offset, lines),
  }];
}

/**
 * Returns the node at a path; `undefined` if a step does not exist. `offset` is the offset to show for the path or for
 * its nearest existing ancestor: the value's if the value is on the line of its key, otherwise the key's.
 */
function walk(
  root: YamlNode | undefined,
  path: readonly (string | number)[],
): { readonly node: YamlNode | undefined; readonly offset: number } {
  let node = root;
  let offset = root?.outer ?? 0;
  for (const step of path) {
    const found = node === undefined ? undefined : child(node, step);
    node = found?.node;
    offset = found?.offset ?? offset;
  }
  return { node, offset };
}

function writtenBy(node: YamlNode | undefined, text: string): string | undefined {
  const target = node === undefined ? undefined : resolved(node);
  return target?.kind === "scalar" && target.style === "plain" ? text.slice(target.start, target.end) : undefined;
}

function child(parent: YamlNode, step: string | number): { node: YamlNode; offset: number } | undefined {
  const target = resolved(parent);
  if (target.kind === "list") {
    const item = target.items[Number(step)];
    return item && { node: item, offset: item.outer };
  }
  if (target.kind !== "map") return undefined;
  const entry = target.entries.findLast((candidate) => candidate.key === String(step));
  if (entry === undefined) return undefined;
  const onOwnLines = entry.node.kind !== "scalar" && entry.node.kind !== "alias" && !entry.node.flow;
  const atKey = onOwnLines || (entry.node.kind === "scalar" && entry.node.style === "empty");
  return { node: entry.node, offset: atKey ? entry.keyNode.outer : entry.node.outer };
}
