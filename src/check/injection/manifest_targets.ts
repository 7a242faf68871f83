/** The workloads in manifests. */
import { MeshError } from "../../base/errors.ts";
import { isList, isMap, type Value } from "../../base/value.ts";
import { parseDocument, splitDocuments } from "../../yaml/mod.ts";
import { type Target, targetOf } from "./target.ts";

/** A file of manifests: its name in messages, and its bytes. */
export interface ManifestTexts {
  readonly file: string;
  chunks(): AsyncIterable<Uint8Array>;
}

/** All workloads of files, in order. Errors: MeshErrors for files that cannot be read, and if there is no workload. */
export async function targetsIn(inputs: readonly ManifestTexts[], namespace: string): Promise<readonly Target[]> {
  const targets: Target[] = [];
  for (const input of inputs) {
    for await (const document of splitDocuments(input.chunks(), { file: input.file })) {
      for (const target of inValue(parseDocument(document).value, namespace, input.file)) targets.push(target);
    }
  }
  if (targets.length > 0) return targets;
  throw new MeshError("The input has no workload", { hint: "a workload is a Pod or a controller of pods" });
}

function inValue(value: Value, namespace: string, file: string): readonly Target[] {
  if (!isMap(value)) return [];
  const { kind, items } = value;
  if (kind === "List" && isList(items)) return items.flatMap((item) => inValue(item, namespace, file));
  const target = targetOf(value, namespace, file);
  return target === undefined ? [] : [target];
}
