interface TextEdit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Edits of a text, collected in any order and applied together. Insertions at the same offset keep their order. */
export class TextEdits {
  readonly #edits: TextEdit[] = [];

  insert(at: number, text: string): void {
    this.replace(at, at, text);
  }

  remove(start: number, end: number): void {
    this.replace(start, end, "");
  }

  replace(start: number, end: number, text: string): void {
    if (end > start || text !== "") this.#edits.push({ start, end, text });
  }

  /**
   * Returns the text from `from` to `to` with all edits, which must lie within this range. Insertions precede a removal
   * at the same offset.
   */
  apply(text: string, from = 0, to = text.length): string {
    const sorted = this.#edits.sort((a, b) => a.start - b.start || Number(a.end > a.start) - Number(b.end > b.start));
    let result = "";
    let at = from;
    for (const edit of sorted) {
      result += text.slice(at, Math.max(at, edit.start)) + edit.text;
      at = Math.max(at, edit.end);
    }
    return result + text.slice(at, to);
  }
}
