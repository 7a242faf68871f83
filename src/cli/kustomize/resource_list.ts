/** The input and output of a function: a ResourceList (KRM functions specification). */
import { MeshError } from "../../base/errors.ts";
import { fieldText } from "../../base/field_path.ts";
import { isList, isMap, listAt, mapAt, newMap, textAt, type Value, type ValueMap } from "../../base/value.ts";
import { editDocument, type ParsedDocument, parseDocument, splitDocuments, toYaml } from "../../yaml/mod.ts";
import type { ListedObject } from "../../inject/mod.ts";
import type { Origin } from "./results.ts";

/** Maximum size of a document, in bytes. */
const MAX_BYTES = 64 * 1024 * 1024;
const INPUT = "standard input";
const GROUP = "config.kubernetes.io/";

export interface ResourceList {
  readonly items: readonly ListedObject[];
  readonly functionConfig: Value;
  /** Returns the text of the list with these items (by default the original items) and the results. */
  written(items: readonly Value[] | undefined, results: readonly ValueMap[]): string;
}

/** Reads a ResourceList. Throws a MeshError for any other input. */
export async function readResourceList(chunks: AsyncIterable<Uint8Array>): Promise<ResourceList> {
  const document = await onlyDocument(chunks);
  const { value } = document;
  if (!isResourceList(value)) throw notTheList(kindOf(value));
  const items = value["items"] ?? [];
  if (!isList(items)) {
    const place = document.place(["items"]);
    throw new MeshError('The ResourceList cannot be read: "items" must be a list', { place });
  }
  return {
    items: items.map(listed),
    functionConfig: value["functionConfig"] ?? null,
    written: (next, results) => {
      const changed = Object.assign(newMap(), value, next === undefined ? {} : { items: [...next] });
      return editDocument(document, results.length === 0 ? changed : Object.assign(changed, { results: [...results] }));
    },
  };
}

async function onlyDocument(chunks: AsyncIterable<Uint8Array>): Promise<ParsedDocument> {
  let only: ParsedDocument | undefined;
  for await (const source of splitDocuments(chunks, { file: INPUT, maxBytes: MAX_BYTES })) {
    const document = parseDocument(source);
    if (document.value === null) continue;
    if (only !== undefined) throw notTheList("more than one document");
    only = document;
  }
  if (only === undefined) throw notTheList("nothing");
  return only;
}

function isResourceList(value: Value): value is ValueMap {
  return isMap(value) && value["kind"] === "ResourceList" && textAt(value, "apiVersion").startsWith(GROUP);
}

function kindOf(value: Value): string {
  const kind = isMap(value) ? textAt(value, "kind") : "";
  return kind === "" ? "no object" : `a ${kind}`;
}

function notTheList(what: string): MeshError {
  return new MeshError(`Standard input contains ${what}, not one ResourceList`, {
    hint: 'kustomize passes a ResourceList to its functions; for manifests use "kubectl mesh inject -f -"',
  });
}

/** Returns the text of a ResourceList that contains only results, for an unreadable input. */
export function onlyResults(results: readonly ValueMap[]): string {
  const head = { apiVersion: "config.kubernetes.io/v1", kind: "ResourceList", items: [] };
  return toYaml(Object.assign(newMap(), head, { results: [...results] }));
}

/** Returns an item with the file that kustomize or kpt read it from. */
function listed(value: Value): ListedObject {
  const file = originOf(value).file ?? "";
  return {
    value,
    doc: { file, index: 1, line: 1, text: "", separator: "" },
    place: (path) => ({ field: fieldText(path) }),
    written: () => undefined,
  };
}

/** Returns an object's file and its index in the file (from 0), according to its annotations. */
export function originOf(value: Value): Origin {
  const annotations = isMap(value) ? mapAt(mapAt(value, "metadata"), "annotations") : newMap();
  const noted = (name: string) =>
    textAt(annotations, `internal.config.kubernetes.io/${name}`) || textAt(annotations, `config.kubernetes.io/${name}`);
  const file = noted("path");
  const index = noted("index");
  if (file === "") return {};
  return /^\d+$/.test(index) ? { file, index: Number(index) } : { file };
}

/** Returns the items of a List, or the value itself. */
export function objectsIn(value: Value): readonly Value[] {
  if (value === null) return [];
  return isMap(value) && value["kind"] === "List" ? listAt(value, "items").flatMap(objectsIn) : [value];
}
