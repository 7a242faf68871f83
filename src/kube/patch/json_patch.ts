/**
 * Builds small JSON patches (RFC 6902). Matches list elements by their identity (a container's name, a port's number),
 * so that adding a container needs one operation instead of a new list.
 */
import { goJson } from "../../golang/go_json.ts";
import { identitiesByField, longestAscending, sameValue } from "../../base/values/mod.ts";
import { isList, isMap, type Value, type ValueMap } from "../../base/value.ts";

/** An operation of a patch. `path` is a JSON pointer (RFC 6901). */
export type PatchOperation =
  | { readonly op: "add" | "replace"; readonly path: string; readonly value: Value }
  | { readonly op: "remove"; readonly path: string };

/**
 * Returns the operations that turn `before` into `after`, in order; an empty list if they are equal. Skips objects that
 * `before` and `after` share.
 */
export function jsonPatch(before: Value, after: Value): readonly PatchOperation[] {
  const operations: PatchOperation[] = [];
  diff(before, after, "", operations);
  return operations;
}

function pointerPart(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}

function diff(before: Value, after: Value, path: string, into: PatchOperation[]): void {
  if (before === after) return;
  if (isMap(before) && isMap(after)) return diffMaps(before, after, path, into);
  if (isList(before) && isList(after)) return diffLists(before, after, path, into);
  if (!sameValue(before, after)) into.push({ op: "replace", path, value: after });
}

function diffMaps(before: ValueMap, after: ValueMap, path: string, into: PatchOperation[]): void {
  for (const key of Object.keys(before)) {
    if (!Object.hasOwn(after, key)) into.push({ op: "remove", path: `${path}/${pointerPart(key)}` });
  }
  for (const key of Object.keys(after)) {
    const value = after[key] ?? null;
    const old = Object.hasOwn(before, key) ? before[key] : undefined;
    // Most values are shared. Only different values need a path.
    if (old !== value) diffEntry(old, value, `${path}/${pointerPart(key)}`, into);
  }
}

/**
 * Adds the operations for one key. Uses `add` for null, because some programs treat null as a missing key and refuse
 * `replace`.
 */
function diffEntry(old: Value | undefined, value: Value, path: string, into: PatchOperation[]): void {
  if (old === undefined || old === null) into.push({ op: "add", path, value });
  else diff(old, value, path, into);
}

function diffLists(before: readonly Value[], after: Value[], path: string, into: PatchOperation[]): void {
  const keyed = identitiesByField(before, after);
  const { from, to } = keyed ?? { from: idsByText(before), to: idsByText(after) };
  const kept = keptInPlace(from, to);
  if (kept.size === 0) {
    if (before.length + after.length > 0) into.push({ op: "replace", path, value: after });
    return;
  }
  const edits = listEdits(before, after, { path, from, to, kept });
  const whole: PatchOperation = { op: "replace", path, value: after };
  const isSmaller = keyed !== undefined || textSize(edits) < textSize([whole]);
  for (const edit of isSmaller ? edits : [whole]) into.push(edit);
}

/** Returns an ID for each element: its JSON text, with a number if texts are equal. */
function idsByText(list: readonly Value[]): readonly string[] {
  const counts = new Map<string, number>();
  return list.map((item) => {
    const text = goJson(item);
    const count = counts.get(text) ?? 0;
    counts.set(text, count + 1);
    return `${text}#${count}`;
  });
}

interface Alignment {
  readonly path: string;
  readonly from: readonly string[];
  readonly to: readonly string[];
  readonly kept: ReadonlySet<string>;
}

/** Edits elements in place if all keep their order. Otherwise removes and adds elements. */
function listEdits(before: readonly Value[], after: readonly Value[], alignment: Alignment): PatchOperation[] {
  const gone = placesOfOthers(alignment.from, alignment.kept);
  const added = placesOfOthers(alignment.to, alignment.kept);
  if (gone.length !== added.length || gone.some((place, at) => place !== added[at])) {
    return moves(before, after, alignment);
  }
  const edits: PatchOperation[] = [];
  after.forEach((value, index) => diff(before[index] ?? null, value, `${alignment.path}/${index}`, edits));
  return edits;
}

/** Removes elements from the end, so that indexes stay valid, then adds and edits elements from the start. */
function moves(before: readonly Value[], after: readonly Value[], alignment: Alignment): PatchOperation[] {
  const { path, from, to, kept } = alignment;
  const edits: PatchOperation[] = [];
  for (const place of placesOfOthers(from, kept).toReversed()) edits.push({ op: "remove", path: `${path}/${place}` });
  const places = new Map(from.map((id, index) => [id, index]));
  for (const [index, id] of to.entries()) {
    const value = after[index] ?? null;
    const at = `${path}/${index}`;
    if (kept.has(id)) diff(before[places.get(id) ?? 0] ?? null, value, at, edits);
    else edits.push({ op: "add", path: at, value });
  }
  return edits;
}

function placesOfOthers(ids: readonly string[], kept: ReadonlySet<string>): readonly number[] {
  return [...ids.keys()].filter((index) => !kept.has(ids[index] ?? ""));
}

/** Returns the elements of both lists that stay in place. Other elements are removed and added again. */
function keptInPlace(from: readonly string[], to: readonly string[]): ReadonlySet<string> {
  const places = new Map(from.map((id, index) => [id, index]));
  return new Set([...longestAscending(to.map((id) => places.get(id)))].map((index) => to[index] ?? ""));
}

function textSize(value: unknown): number {
  if (typeof value === "string") return value.length + 3;
  if (typeof value !== "object" || value === null) return String(value).length + 1;
  let size = 2;
  for (const [key, item] of Object.entries(value)) size += textSize(item) + (Array.isArray(value) ? 0 : key.length + 3);
  return size;
}
