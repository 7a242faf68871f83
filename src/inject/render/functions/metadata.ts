/** Template functions for a pod's metadata. */
import { type FuncMap, GoStruct, type GoValue, isGoMap, pure, sprint } from "../../../golang/gotemplate/mod.ts";

export const metadataFunctions: FuncMap = {
  isset: pure(["map[string]string", "string"], (map = null, key = null) => {
    return isGoMap(map) && typeof key === "string" && Object.hasOwn(map, key);
  }),
  annotation: pure(["v1.ObjectMeta", "string", "interface {}"], annotation),
  formatDuration: pure(["interface {}"], (duration = null) => {
    return duration instanceof GoStruct ? sprint(duration.get("AsDuration") ?? null) : sprint(duration);
  }),
  // Older templates call this function. It returns its argument.
  kubevirtInterfaces: pure(["string"], (interfaces) => interfaces),
  excludeInterfaces: pure(["string"], (interfaces) => interfaces),
};

/** Returns the annotation's value, or the default as text. Without a default, returns `<nil>`, as Go prints nil. */
function annotation(metadata: GoValue = null, name: GoValue = null, otherwise: GoValue = null): string {
  const annotations = metadata instanceof GoStruct ? metadata.get("Annotations") : undefined;
  if (typeof name !== "string" || !isGoMap(annotations) || !Object.hasOwn(annotations, name)) return sprint(otherwise);
  return sprint(annotations[name] ?? null);
}
