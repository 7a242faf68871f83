/** Prints JSON data with a layout. */
import { isList, isMap, type Value, type ValueMap } from "../../../base/value.ts";
import type { Layout, LayoutOf, Place } from "./layout.ts";

interface Part {
  readonly name: string;
  readonly text: string;
  readonly gap: string;
}

/** Returns the text of a value. `newLine` is a line feed and the current indentation. */
export function printLayout(value: Value, layout: Layout, newLine = "\n"): string {
  if (layout.line !== undefined) return layout.line(value);
  const inner = layout.isTight ? newLine : newLine + " ".repeat(layout.indent ?? 2);
  if (isList(value)) return `[${inside(items(value, layout, inner), layout, { inner, newLine })}]`;
  if (isMap(value)) return `{${inside(members(value, layout, inner), layout, { inner, newLine })}}`;
  return JSON.stringify(value);
}

function items(list: readonly Value[], layout: Layout, newLine: string): Part[] {
  return list.map((item, index) => {
    const own = layoutOf(layout.items, item, index, list.length);
    const name = isMap(item) ? String(item["name"]) : "";
    return { name, text: printLayout(item, own, newLine), gap: gapOf(own, newLine) };
  });
}

function members(map: ValueMap, layout: Layout, newLine: string): Part[] {
  const first = (layout.order ?? []).filter((name) => name in map);
  const names = [...first, ...Object.keys(map).filter((name) => !first.includes(name))];
  return names.map((name, index) => {
    const value = map[name] ?? null;
    const own = layoutOf(layout.members?.[name], value, index, names.length);
    const text = `${JSON.stringify(name)}${own.colon ?? ": "}${printLayout(value, own, newLine)}`;
    return { name, text, gap: gapOf(own, newLine) };
  });
}

function layoutOf(layout: LayoutOf = {}, ...part: [value: Value, index: number, count: number]): Layout {
  return typeof layout === "function" ? layout(...part) : layout;
}

function gapOf({ gap }: Layout, newLine: string): string {
  return gap === undefined ? "" : newLine.slice(0, newLine.length - gap);
}

function inside(
  parts: readonly Part[],
  layout: Layout,
  { inner, newLine }: { inner: string; newLine: string },
): string {
  if (layout.isTight) return parts.map(({ text }) => text).join(", ");
  if (parts.length === 0 && !layout.isOpen) return "";
  const places = layout.places ?? [];
  const isPlaced = ({ name }: Part) => places.some((place) => place.name === name);
  const always = separated(parts.filter((part) => !isPlaced(part)), layout, inner);
  return `${always}${placed(parts, places, inner)}${newLine.slice(0, newLine.length - (layout.outdent ?? 0))}`;
}

function separated(parts: readonly Part[], { commas }: Layout, newLine: string): string {
  const comma = commas === "own line" ? `${newLine},` : ",";
  const texts = parts.map(({ text, gap }, index) => {
    const isLast = index === parts.length - 1 && commas !== "behind all";
    return `${newLine}${text}${isLast ? "" : comma}${gap}`;
  });
  return texts.join("");
}

function placed(parts: readonly Part[], places: readonly Place[], newLine: string): string {
  const found = places.map(({ name }) => parts.find((part) => part.name === name));
  const texts = places.map(({ isGapBefore, comma }, index) => {
    const part = found[index];
    const isSecond = part !== undefined && found.slice(0, index).some((each) => each !== undefined);
    const text = part === undefined ? "" : `${newLine}${part.text}${part.gap}`;
    return `${isGapBefore ? newLine : ""}${COMMAS[comma](newLine, part !== undefined, isSecond)}${text}`;
  });
  return texts.join("");
}

const COMMAS: Readonly<Record<Place["comma"], (newLine: string, isThere: boolean, isSecond: boolean) => string>> = {
  "none": () => "",
  "own line": (newLine, isThere) => isThere ? `${newLine},` : "",
  "with gaps": (newLine, _isThere, isSecond) => isSecond ? `${newLine},${newLine}${newLine}` : newLine,
};
