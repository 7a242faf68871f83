/** A parsed expression as JavaScript source for the flag `u`. */
import type { Assertion, Node, RepeatNode } from "./tree.ts";

const ASSERTIONS: Readonly<Record<Assertion, string>> = {
  start: "^",
  end: "$",
  lineStart: "(?<=^|\\n)",
  lineEnd: "(?=$|\\n)",
  wordEdge: "(?<=[0-9A-Za-z_])(?![0-9A-Za-z_])|(?<![0-9A-Za-z_])(?=[0-9A-Za-z_])",
  noWordEdge: "(?<=[0-9A-Za-z_])(?=[0-9A-Za-z_])|(?<![0-9A-Za-z_])(?![0-9A-Za-z_])",
};

/**
 * The source. Both prefer the leftmost match and, among those, the first alternative; they differ about repetitions of
 * what can be empty and about groups in repetitions, see cost.ts.
 */
export function sourceOf(node: Node): string {
  switch (node.kind) {
    case "empty":
      return "";
    case "character":
      return node.source;
    case "assertion":
      return `(?:${ASSERTIONS[node.name]})`;
    case "capture":
      return `(${sourceOf(node.body)})`;
    case "sequence":
      return node.parts.map(partSource).join("");
    case "choice":
      return node.options.map(sourceOf).join("|");
    case "repeat":
      return repeatSource(node);
  }
}

function partSource(part: Node): string {
  return part.kind === "choice" ? `(?:${sourceOf(part)})` : sourceOf(part);
}

function repeatSource({ body, min, max, lazy }: RepeatNode): string {
  const source = sourceOf(body);
  const isAtom = body.kind === "character" || body.kind === "capture" || body.kind === "assertion";
  return `${isAtom ? source : `(?:${source})`}{${min},${max === Infinity ? "" : max}}${lazy ? "?" : ""}`;
}
