import { copyValue } from "../../base/values/mod.ts";
import type { ValueMap } from "../../base/value.ts";
import { resolved, type YamlNode } from "../node.ts";
import { Problem } from "./problem.ts";

/** The keys of a map that come only from `<<`. */
export interface Merge {
  readonly keys: Set<string>;
}

/**
 * Sets the keys of a merged map or list of maps. In a list, the first map wins. As in go-yaml v2, later text
 * wins: a merge overrides the keys above it, and the keys below a merge override the merged keys.
 */
export function mergeInto(value: ValueMap, node: YamlNode, before: Merge | undefined): Merge {
  const merge = before ?? { keys: new Set<string>() };
  for (const source of sources(node).reverse()) {
    for (const key of Object.keys(source)) {
      value[key] = copyValue(source[key] ?? null);
      merge.keys.add(key);
    }
  }
  return merge;
}

function sources(node: YamlNode): ValueMap[] {
  if (node.kind === "list") return node.items.map(mapOf);
  return [mapOf(node)];
}

function mapOf(node: YamlNode): ValueMap {
  const target = resolved(node);
  if (target.kind === "map") return target.value;
  throw new Problem('The merge key "<<" needs a map or a list of maps as value', node.start);
}
