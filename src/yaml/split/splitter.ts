import { MeshError } from "../../base/errors.ts";
import { countLines } from "../position.ts";
import { jsonValues } from "./json_values.ts";
import type { SourceDocument } from "../source_document.ts";

/** A line that may be among directives: a directive, a comment, or a blank line. */
const IN_DIRECTIVES = /^(?:%|[ \t]*(?:#|\r?$))/;

/** Whether whole lines contain only directives, comments and blank lines, with at least one directive. */
function isOnlyDirectives(text: string): boolean {
  const lines = text.replace(/^\uFEFF/, "").split("\n");
  return lines.pop() === "" && lines.every((line) => IN_DIRECTIVES.test(line)) &&
    lines.some((line) => line.startsWith("%"));
}

/**
 * Splits the lines of a file into documents as kubectl does: at lines that begin with `---`. Unlike kubectl, keeps the
 * `---` after `%YAML` lines in their document. Pass the lines to `take` in order, then call `end`.
 */
export class Splitter {
  #parts: string[] = [];
  #length = 0;
  #separator = "";
  #problem: MeshError | undefined;
  #index = 0;
  /** The number of the next line to read. */
  #line = 1;
  /** The number of the line where the current document starts. */
  #start = 1;

  /** `maxLength` is the maximum length of a document, in UTF-16 units. */
  constructor(readonly file: string, readonly maxLength: number) {}

  /** The number of the next line, from 1. */
  get line(): number {
    return this.#line;
  }

  /**
   * Adds whole lines (the last line of the file may lack its line break) and yields the documents that end in these
   * lines.
   */
  *take(text: string): Generator<SourceDocument> {
    let from = 0;
    for (let at = separatorAt(text, 0); at >= 0; at = separatorAt(text, at)) {
      this.#append(text.slice(from, at));
      const next = text.indexOf("\n", at) + 1 || text.length;
      const line = text.slice(at, next);
      from = at;
      at = next;
      if (this.#isDirectivesEnd()) continue;
      yield* this.#document();
      const problem = this.#separatorProblem(line);
      this.#begin(line);
      this.#problem = problem;
      from = next;
    }
    this.#append(text.slice(from));
  }

  /** Marks the document of the next line as unreadable. Only the first reason is kept. */
  markUnreadable(problem: () => MeshError): void {
    this.#problem ??= problem();
  }

  /** Yields the last document, if the file has one. */
  *end(): Generator<SourceDocument> {
    if (this.#length > 0 || this.#separator !== "") yield* this.#document();
  }

  #append(text: string): void {
    if (text === "") return;
    this.#length += text.length;
    if (this.#length > this.maxLength) this.#refuseLength();
    this.#parts.push(text);
    this.#line += countLines(text);
  }

  #isDirectivesEnd(): boolean {
    if (this.#length === 0 || this.#length >= 10_000) return false;
    const text = this.#parts.join("");
    return text.includes("%") && isOnlyDirectives(text);
  }

  #separatorProblem(line: string): MeshError | undefined {
    const rest = line.slice(3).trim();
    if (rest === "" || rest.startsWith("#")) return undefined;
    return new MeshError(`Invalid YAML document separator: "${rest}"`, {
      place: { ...this.#place(this.#line), column: 4, snippet: `${line.slice(0, 100).trimEnd()}\n   ^` },
      hint: 'a line that begins with "---" separates documents and may only hold a comment after it',
    });
  }

  #place(line: number) {
    return this.file === "" ? { line } : { file: this.file, line };
  }

  *#document(): Generator<SourceDocument> {
    const text = this.#parts.join("");
    if (text === "" && this.#separator === "") return;
    let line = this.#start;
    let separator = this.#separator;
    if (this.#problem !== undefined) {
      yield { file: this.file, index: ++this.#index, line, text, separator, problem: this.#problem };
      return;
    }
    for (const part of jsonValues(text)) {
      yield { file: this.file, index: ++this.#index, line, text: part, separator };
      line += countLines(part);
      separator = "";
    }
  }

  #begin(separator: string): void {
    this.#parts = [];
    this.#length = 0;
    this.#problem = undefined;
    this.#separator = separator;
    this.#line += 1;
    this.#start = this.#line;
  }

  #refuseLength(): never {
    throw new MeshError(`A document is longer than ${sizeText(this.maxLength, "characters")}`, {
      place: this.#place(this.#start),
      hint: 'Kubernetes accepts objects of at most 3 MiB: is a "---" missing, or is this not a manifest',
    });
  }
}

/** The offset of the next line that begins with `---`, or -1. `from` must be the start of a line. */
function separatorAt(text: string, from: number): number {
  if (text.startsWith("---", from)) return from;
  const at = text.indexOf("\n---", from);
  return at < 0 ? -1 : at + 1;
}

const MIB = 1024 * 1024;

/** A limit as text: `16 MiB` for whole mebibytes, otherwise a number and `unit`, such as `400 characters`. */
export function sizeText(size: number, unit: string): string {
  return size % MIB === 0 ? `${size / MIB} MiB` : `${size} ${unit}`;
}
