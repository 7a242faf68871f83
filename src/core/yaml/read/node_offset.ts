import { resolved, type YamlNode } from "../node.ts";

/**
 * The offset to show for a path: the value if it stands on the line of its key, else the key. Steps that do not exist
 * end the walk.
 */
export function nodeOffset(root: YamlNode | undefined, path: readonly (string | number)[]): number {
  let node = root;
  let offset = root?.outer ?? 0;
  for (const step of path) {
    const found = node === undefined ? undefined : child(node, step);
    if (found === undefined) break;
    node = found.node;
    offset = found.offset;
  }
  return offset;
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
