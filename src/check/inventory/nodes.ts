import { once } from "./observed.ts";
import { nodeKeeper } from "./kept_fields.ts";
import { listOf, type Source } from "./source.ts";

/** Nodes, all of them. */
export function nodeFacts(source: Source) {
  return { nodes: once(() => listOf(source, "api/v1", "nodes", { query: { limit: "50" }, keep: nodeKeeper() })) };
}
