/** Returns the objects in a text of manifests; a List is replaced with its items. */
import { isMap, mapsAt, type ValueMap } from "../../src/base/value.ts";
import { parseDocument, splitText } from "../../src/yaml/mod.ts";

export function objectsOf(text: string): readonly ValueMap[] {
  return splitText(text, "").map((doc) => parseDocument(doc).value).filter(isMap).flatMap((value) =>
    value["kind"] === "List" ? mapsAt(value, "items") : [value]
  );
}
