import { MeshError } from "../../errors.ts";
import { jsonValues } from "./json_values.ts";
import { sizeText } from "./size_text.ts";
import type { SourceDocument } from "../source_document.ts";

/** What a file's splitter is told. */
export interface SplitLimits {
  /** Longest document, in UTF-16 units. */
  readonly maxLength: number;
}

const DIRECTIVES_ONLY = /^\uFEFF?(?:[ \t]*(?:#[^\n]*)?\r?\n)*%[^\n]*\n(?:%[^\n]*\n|[ \t]*(?:#[^\n]*)?\r?\n)*$/;

/**
 * Cuts the lines of a file into documents as kubectl does: at lines that begin with `---`. Unlike kubectl it leaves the
 * `---` that ends `%YAML` lines in their document. Lines are given in order, then `end` is called.
 */
export class Splitter {
  readonly #file: string;
  readonly #limits: SplitLimits;
  #parts: string[] = [];
  #length = 0;
  #separator = "";
  #problem: MeshError | undefined;
  #index = 0;
  /** The line that the next part begins with. */
  #line = 1;
  /** The line that the document begins with. */
  #start = 1;

  constructor(file: string, limits: SplitLimits) {
    this.#file = file;
    this.#limits = limits;
  }

  /** The line that comes next, from 1. */
  get line(): number {
    return this.#line;
  }

  /** Takes whole lines (only the last of the file may lack its line break) and gives the documents that end in them. */
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

  /** The document that the next line is in cannot be read; the first reason counts. */
  spoil(problem: MeshError): void {
    this.#problem ??= problem;
  }

  /** The last document, if there is anything left. */
  *end(): Generator<SourceDocument> {
    if (this.#length > 0 || this.#separator !== "") yield* this.#document();
  }

  #append(text: string): void {
    if (text === "") return;
    this.#length += text.length;
    if (this.#length > this.#limits.maxLength) this.#refuseLength();
    this.#parts.push(text);
    this.#line += breaks(text);
  }

  #isDirectivesEnd(): boolean {
    return this.#length > 0 && this.#length < 10_000 && DIRECTIVES_ONLY.test(this.#parts.join(""));
  }

  #separatorProblem(line: string): MeshError | undefined {
    const rest = line.slice(3).trim();
    if (rest === "" || rest.startsWith("#")) return undefined;
    return new MeshError(`Invalid YAML document separator: "${rest}"`, {
      place: { ...this.#place(), column: 4, snippet: `${line.trimEnd()}\n   ^` },
      hint: 'a line that begins with "---" separates documents and may only hold a comment after it',
    });
  }

  #place() {
    return this.#file === "" ? { line: this.#line } : { file: this.#file, line: this.#line };
  }

  *#document(): Generator<SourceDocument> {
    const text = this.#parts.join("");
    if (text === "" && this.#separator === "") return;
    let line = this.#start;
    let separator = this.#separator;
    if (this.#problem !== undefined) {
      yield { file: this.#file, index: ++this.#index, line, text, separator, problem: this.#problem };
      return;
    }
    for (const part of jsonValues(text)) {
      yield { file: this.#file, index: ++this.#index, line, text: part, separator };
      line += breaks(part);
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
    throw new MeshError(`A document is longer than ${sizeText(this.#limits.maxLength, "characters")}`, {
      place: this.#file === "" ? { line: this.#start } : { file: this.#file, line: this.#start },
      hint: 'Kubernetes takes objects of at most 3 MiB: is a "---" missing, or is this not a manifest',
    });
  }
}

/** The offset of the next line that begins with `---`, from a line's beginning on; -1 if there is none. */
function separatorAt(text: string, from: number): number {
  if (text.startsWith("---", from)) return from;
  const at = text.indexOf("\n---", from);
  return at < 0 ? -1 : at + 1;
}

function breaks(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count++;
  return count;
}
