/** Reads the workloads in manifests. */
import { errorLine, MeshError } from "../../base/errors.ts";
import { fieldKeys } from "../../base/field_path.ts";
import { isList, isMap, textAt, type Value, type ValueMap } from "../../base/value.ts";
import { resourceName } from "../../kube/mod.ts";
import { type ParsedDocument, parseDocument, type SourceDocument, splitDocuments } from "../../yaml/mod.ts";
import {
  InjectionError,
  metadataOf,
  misreadText,
  readWorkload,
  withoutTemplate,
  type WorkloadKind,
  workloadKinds,
} from "../../inject/mod.ts";
import type { ExplanationLine } from "./explanation_schema.ts";
import { type Target, targetOfKind } from "./target.ts";

/** A file of manifests, with the name for messages. */
export interface ManifestTexts {
  readonly file: string;
  chunks(): AsyncIterable<Uint8Array>;
}

/** A document that cannot be parsed, or a workload without a usable pod. */
export interface Unjudged extends Pick<ExplanationLine, "workload" | "namespace" | "reason" | "field" | "message"> {
  readonly verdict: Exclude<ExplanationLine["verdict"], "injected">;
  readonly file: string;
  readonly document: number;
  readonly error?: MeshError;
}

/** Returns workloads, and documents that cannot be judged, in order. Throws a MeshError if there are none. */
export async function manifestTargets(
  inputs: readonly ManifestTexts[],
  namespace: string,
): Promise<readonly (Target | Unjudged)[]> {
  const targets: (Target | Unjudged)[] = [];
  for (const input of inputs) await collect(input, namespace, targets);
  if (targets.length > 0) return targets;
  throw new MeshError("The input contains no workload", { hint: "a workload is a Pod or a controller of pods" });
}

/** Returns the workloads. Throws a MeshError for a document that cannot be parsed, and if there is no workload. */
export async function targetsIn(inputs: readonly ManifestTexts[], namespace: string): Promise<readonly Target[]> {
  return (await manifestTargets(inputs, namespace)).flatMap((each) => {
    if (!("verdict" in each)) return [each];
    if (each.error !== undefined) throw each.error;
    return [];
  });
}

async function collect({ file, chunks }: ManifestTexts, namespace: string, into: (Target | Unjudged)[]): Promise<void> {
  let last = 0;
  try {
    for await (const source of splitDocuments(chunks(), { file })) {
      last = source.index;
      for (const found of inSource(source, namespace)) into.push(found);
    }
  } catch (error) {
    // The rest of the file, such as binary data, cannot be split into documents.
    if (!(error instanceof MeshError)) throw error;
    into.push(unreadable(error, file, last + 1));
  }
}

function inSource(source: SourceDocument, namespace: string): readonly (Target | Unjudged)[] {
  try {
    const parsed = parseDocument(source);
    return inValue(parsed.value, [], { parsed, namespace });
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    return [unreadable(error, source.file, source.index)];
  }
}

function unreadable(error: MeshError, file: string, document: number): Unjudged {
  const { file: _file, document: _document, ...place } = error.place ?? {};
  const message = errorLine({ message: error.message, place, hint: error.hint });
  const known = { workload: "", namespace: "", field: "" };
  return { ...known, file, document, verdict: "cannot-tell", reason: "invalid-yaml", message, error };
}

interface Reading {
  readonly parsed: ParsedDocument;
  readonly namespace: string;
}

type Path = readonly (string | number)[];

function inValue(value: Value, path: Path, reading: Reading): readonly (Target | Unjudged)[] {
  if (!isMap(value)) return [];
  const { kind, items } = value;
  if (kind === "List" && isList(items)) {
    return items.flatMap((item, index) => inValue(item, [...path, "items", index], reading));
  }
  return workloadKinds(value).map((row) => judged(value, row, path, reading));
}

function judged(value: ValueMap, row: WorkloadKind, path: Path, { parsed, namespace }: Reading): Target | Unjudged {
  const { file, index: document } = parsed.doc;
  const metadata = metadataOf(value);
  const workload = resourceName(textAt(value, "apiVersion"), row.kind, textAt(metadata, "name"));
  const known = { workload, namespace: textAt(metadata, "namespace") || namespace, file, document };
  try {
    const read = readWorkload(value, row);
    if (read === undefined) {
      const { reason, field, message } = withoutTemplate(value, row);
      return { ...known, verdict: "not-injected", reason, field, message };
    }
    const warnings = read.misread.map((each) => misreadText(each, path, parsed));
    return { ...targetOfKind(read.manifest, row, { namespace, file }), document, warnings };
  } catch (error) {
    if (!(error instanceof InjectionError)) throw error;
    const field = error.place?.field ?? "";
    const place = parsed.place([...path, ...fieldKeys(field)]);
    const message = error.message;
    const located = new MeshError(message, { place: { ...place, document }, cause: error, hint: error.hint });
    return { ...known, verdict: "refused", reason: error.reason, field, message, error: located };
  }
}
