import { once } from "./fact.ts";
import { namespaceKeeper } from "./kept.ts";
import { listOf, type Source } from "./source.ts";

/** Namespaces: all of them, whatever the scope is. */
export function namespaceFacts(source: Source) {
  return { namespaces: once(() => listOf(source, "api/v1", "namespaces", { keep: namespaceKeeper() })) };
}
