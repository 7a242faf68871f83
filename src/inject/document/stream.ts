/** Changes the pods in files, one document at a time. Writes the new manifests, and reports an entry for each resource. */
import { MeshError } from "../../base/errors.ts";
import { parseDocument, type SourceDocument, splitDocuments } from "../../yaml/mod.ts";
import { type Change, changeDocument, type DocumentOptions, type DocumentResult } from "./document.ts";
import { type Joiner, joinerFor } from "./joiner.ts";
import type { ReportEntry, Result } from "./report.ts";

/** A source of manifests: a file, standard input, or a URL. */
export interface ManifestInput {
  readonly file: string;
  /** File name of the output in an output folder; absent if the source is not a file. */
  readonly name?: string;
  /** A warning about the source. It is reported with the first resource. */
  readonly warning?: string | undefined;
  chunks(): AsyncIterable<Uint8Array>;
}

export interface Sink {
  /** Called when an input begins, to start its own output. If absent, all inputs are joined into one output. */
  begin?(input: ManifestInput): void;
  write(text: string): void;
  report(entry: ReportEntry): void;
  /** Receives each document without failures, with its new text. */
  document?(document: SourceDocument, text: string): void;
}

export type Summary = Readonly<Record<Result, number>>;

type StreamOptions = DocumentOptions & { readonly sink: Sink };

/**
 * Changes all documents of all inputs. A document that fails is counted and left out of the output, and the next
 * document is processed. Only one document is in memory at a time. An error from the sink, such as a
 * closed pipe, stops the stream.
 */
export async function changeStream(
  inputs: Iterable<ManifestInput>,
  change: Change,
  { sink, ...options }: StreamOptions,
): Promise<Summary> {
  const counts = { injected: 0, uninjected: 0, skipped: 0, unchanged: 0, failed: 0 };
  const counting: Sink = {
    write: (text) => sink.write(text),
    document: (document, text) => sink.document?.(document, text),
    report(entry) {
      counts[entry.result]++;
      sink.report(entry);
    },
  };
  const newJoiner = () => joinerFor(options.output, counting.write, options.patch);
  let joiner = newJoiner();
  for (const input of inputs) {
    if (sink.begin !== undefined) {
      joiner.end();
      sink.begin(input);
      joiner = newJoiner();
    }
    await changeInput(input, change, { ...options, joiner, sink: counting });
  }
  joiner.end();
  return counts;
}

async function changeInput(
  input: ManifestInput,
  change: Change,
  { joiner, sink, ...options }: StreamOptions & { readonly joiner: Joiner },
): Promise<void> {
  joiner.startFile();
  let warnings = input.warning === undefined ? [] : [input.warning];
  const report = (entry: ReportEntry) => {
    sink.report(warnings.length === 0 ? entry : { ...entry, warnings: [...warnings, ...entry.warnings] });
    warnings = [];
  };
  for await (const document of documentsIn(input)) {
    if ("result" in document) return report(document);
    const result = await changeSource(document, change, options);
    for (const entry of result.entries) report(entry);
    const { text, items = () => text === undefined ? [] : [text] } = result;
    if (text === undefined) continue;
    sink.document?.(document, text);
    joiner.add(document.separator, { text, items });
  }
}

/** Yields the documents of a file; at the end an entry if the rest of the file cannot be read, as with binary data. */
async function* documentsIn(input: ManifestInput): AsyncGenerator<SourceDocument | ReportEntry> {
  let last = 0;
  try {
    for await (const document of splitDocuments(input.chunks(), { file: input.file })) {
      last = document.index;
      yield document;
    }
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    yield unreadable(error, input.file, last + 1);
  }
}

async function changeSource(
  source: SourceDocument,
  change: Change,
  options: DocumentOptions,
): Promise<DocumentResult> {
  const parsed = readable(source, () => parseDocument(source));
  if ("entries" in parsed) return parsed;
  await options.prepare?.(parsed.value);
  const result = readable(source, () => changeDocument(parsed, change, options));
  const warnings = parsed.warnings.map(({ message, place }) =>
    place.line === undefined ? message : `line ${place.line}: ${message}`
  );
  const [first, ...rest] = result.entries;
  if (first === undefined || warnings.length === 0) return result;
  return { ...result, entries: [{ ...first, warnings: [...warnings, ...first.warnings] }, ...rest] };
}

/** Runs `work`. Turns its MeshError into a result with a failed entry. */
function readable<T>(source: SourceDocument, work: () => T): T | DocumentResult {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    return { text: undefined, entries: [unreadable(error, source.file, source.index)] };
  }
}

function unreadable(error: MeshError, file: string, document: number): ReportEntry {
  const none = { apiVersion: "", kind: "", namespace: "", name: "", field: "", warnings: [] };
  const place = { file, document, ...error.place };
  const located = new MeshError(error.message, { place, cause: error, hint: error.hint });
  return { file, document, ...none, result: "failed", reason: "invalid-yaml", message: error.message, error: located };
}
