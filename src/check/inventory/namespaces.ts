import { once } from "./observed.ts";
import { namespaceKeeper } from "./kept_fields.ts";
import { listOf, type Source } from "./source.ts";

/** Namespaces: all of them, whatever the scope is. */
export function namespaceFacts(source: Source) {
  return { namespaces: once(() => listOf(source, "api/v1", "namespaces", { keep: namespaceKeeper() })) };
}
