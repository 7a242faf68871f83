import { copyValue } from "../../base/values/mod.ts";
import type { ValueMap } from "../../base/value.ts";
import { resolved, type YamlNode } from "../node.ts";
import { Problem } from "./problem.ts";

/**
 * Sets the keys of a merged map or list of maps, and adds them to `merged`. In a list, the first map wins. As in go-yaml
 * v2, later text wins: a merge overrides the keys above it, and the keys below a merge override the merged keys.
 */
export function mergeInto(value: ValueMap, node: YamlNode, merged: Set<string>): void {
  const sources = node.kind === "list" ? node.items : [node];
  for (const source of sources.map(mapOf).reverse()) {
    for (const key of Object.keys(source)) {
      value[key] = copyValue(source[key] ?? null);
      merged.add(key);
    }
  }
}

function mapOf(node: YamlNode): ValueMap {
  const target = resolved(node);
  if (target.kind === "map") return target.value;
  throw new Problem('The merge key "<<" needs a map or a list of maps as value', node.start);
}
