/** Runs `inject` or `uninject` on a text, through the public interface of `inject`. */
import { type Change, changeStream, type DocumentOptions, type ReportEntry } from "../../src/inject/mod.ts";

/** The output, and the entries in the report. */
export interface ChangedText {
  readonly text: string;
  readonly entries: readonly ReportEntry[];
}

/** Changes a text; the output is YAML by default. */
export async function changedText(
  input: string | Uint8Array,
  change: Change,
  { file = "input.yaml", ...options }: { readonly file?: string } & Partial<DocumentOptions> = {},
): Promise<ChangedText> {
  let text = "";
  const entries: ReportEntry[] = [];
  const sink = {
    write: (part: string) => void (text += part),
    report: (entry: ReportEntry) => void entries.push(entry),
  };
  const bytes = typeof input === "string" ? new TextEncoder().encode(input) : input;
  const chunks = async function* () {
    yield await Promise.resolve(bytes);
  };
  await changeStream([{ file, chunks }], change, { output: "yaml", ...options, sink });
  return { text, entries };
}
