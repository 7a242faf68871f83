import { once } from "./observed.ts";
import { listOf, type Source } from "./source.ts";

/** What bounds the resources of pods, in the scope. */
export function limitFacts(source: Source) {
  const { namespace } = source.scope;
  return {
    resourceQuotas: once(() => listOf(source, "api/v1", "resourcequotas", { namespace })),
    limitRanges: once(() => listOf(source, "api/v1", "limitranges", { namespace })),
  };
}
