import { YAMLException } from "js-yaml";
import { MeshError } from "../../base/errors.ts";
import { Lines, placeOf } from "../position.ts";
import { Problem } from "./problem.ts";
import type { SourceDocument } from "../source_document.ts";

const TEMPLATE_HINT = "this looks like a Helm template: render it first, for example with `helm template`";

/** Clearer texts for the reasons in js-yaml's errors. */
const REASONS: Readonly<Record<string, string>> = {
  "deficient indentation": "a line is indented too little, or a bracket or quote is not closed",
  "unexpected end of the stream within a flow collection": "a bracket is not closed",
  "bad indentation of a mapping entry": "the indentation does not match the lines above, or a value needs quotes",
  "bad indentation of a sequence entry": "the indentation does not match the items above",
  "expected ':' after a mapping key": 'a ":" is missing after a key',
  "end of the stream or a document separator is expected": "text follows the end of the content",
  "nesting exceeded maxDepth (100)": "maps and lists are nested more than 100 deep",
};

/** Converts the parser's exception to an error that a user can act on. Returns other errors unchanged. */
export function parseError(error: unknown, doc: SourceDocument): unknown {
  const found = finding(error, doc.text);
  if (found === undefined) return error;
  const tab = tabIndentation(doc.text, found.offset);
  if (tab !== undefined) {
    return new MeshError("A tab is used for indentation", {
      place: placeOf(doc, tab),
      hint: "YAML indentation must be spaces: replace the tab",
    });
  }
  const details = { place: placeOf(doc, found.offset), cause: error };
  return new MeshError(
    found.message,
    looksLikeTemplate(doc.text, found.offset) ? { ...details, hint: TEMPLATE_HINT } : details,
  );
}

function finding(error: unknown, text: string): { message: string; offset: number } | undefined {
  if (error instanceof Problem) return { message: error.message, offset: error.offset };
  if (!(error instanceof YAMLException)) return undefined;
  const offset = Math.min(error.mark?.position ?? 0, Math.max(0, text.length - 1));
  return { message: `Cannot read the YAML: ${REASONS[error.reason] ?? error.reason}`, offset };
}

/** The offset of a tab in the indentation of the error's line or of the previous line. */
function tabIndentation(text: string, offset: number): number | undefined {
  const lines = new Lines(text);
  const start = lines.start(offset);
  for (const from of [start, lines.start(start - 1)]) {
    const indentation = /^[ ]*\t/.exec(text.slice(from, from + 200));
    if (indentation !== null) return from + indentation[0].length - 1;
  }
  return undefined;
}

/**
 * Whether a template action (`{{`) is at the error. Elsewhere `{{` is text, as in the templates of an injector
 * configuration.
 */
function looksLikeTemplate(text: string, offset: number): boolean {
  const lines = new Lines(text);
  const before = lines.start(lines.start(offset) - 1);
  return /\{\{-?\s*[.$a-zA-Z/"(]/.test(text.slice(before, lines.next(offset)));
}
