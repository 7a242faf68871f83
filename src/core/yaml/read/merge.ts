import { copyValue } from "../../same_value.ts";
import type { ValueMap } from "../../value.ts";
import { resolved, type YamlNode } from "../node.ts";
import { Problem } from "./problem.ts";

/** The keys of a map that came through `<<` and were not written again after it. */
export interface Merge {
  readonly keys: Set<string>;
}

/**
 * Sets the keys of a merged map, or of each of a list of maps, the first winning. As in go-yaml v2 the merge counts where
 * it stands: it overrides keys before it and is overridden by keys after it.
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
