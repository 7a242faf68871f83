/** Joins the texts of changed documents to one YAML stream or one JSON value. */
import type { DocumentResult } from "./document.ts";

type Text = Required<Pick<DocumentResult, "items">> & { readonly text: string };

/** Receives the results of documents in order, and writes the joined output. */
export interface Joiner {
  startFile(): void;
  /** Adds a document. `separator` is the text that precedes the document in its file. */
  add(separator: string, result: Text): void;
  end(): void;
}

/** Returns the joiner for a format. `isNew`: the texts are generated, so the input's separators are not copied. */
export function joinerFor(output: "yaml" | "json", write: (text: string) => void, isNew = false): Joiner {
  return output === "json" ? new JsonJoiner(write) : new YamlJoiner(write, isNew);
}

/** Keeps the separators within a file. Writes `---` between files, and between generated texts. */
class YamlJoiner implements Joiner {
  #lastText = "";
  #newFile = false;

  constructor(readonly write: (text: string) => void, readonly isNew: boolean) {}

  startFile(): void {
    this.#newFile = this.#lastText !== "";
  }

  add(own: string, { text }: Text): void {
    const separator = this.isNew ? (text === "" || this.#lastText === "" ? "" : "---\n") : own;
    if (this.#newFile && separator + text !== "") {
      this.#newFile = false;
      if (!this.#lastText.endsWith("\n")) this.#write("\n");
      if (separator === "") this.#write("---\n");
    }
    this.#write(separator + text);
  }

  end(): void {}

  #write(text: string): void {
    if (text === "") return;
    this.#lastText = text.slice(-1);
    this.write(text);
  }
}

const INDENT = "    ";

/** Writes one document as is, and several documents as a List, as kubectl does: JSON has no document separator. */
class JsonJoiner implements Joiner {
  #first: Text | undefined;
  #count = 0;
  #hasItems = false;

  constructor(readonly write: (text: string) => void) {}

  startFile(): void {}

  add(_separator: string, result: Text): void {
    if (result.text === "") return;
    this.#count++;
    if (this.#count === 1) {
      this.#first = result;
      return;
    }
    if (this.#first !== undefined) {
      this.write(
        `{\n${INDENT}"apiVersion": "v1",\n${INDENT}"kind": "List",\n${INDENT}"metadata": {},\n${INDENT}"items": [`,
      );
      this.#items(this.#first);
      this.#first = undefined;
    }
    this.#items(result);
  }

  end(): void {
    if (this.#first !== undefined) {
      this.write(this.#first.text.endsWith("\n") ? this.#first.text : `${this.#first.text}\n`);
    } else if (this.#count > 1) this.write(`\n${INDENT}]\n}\n`);
  }

  #items({ items }: Text): void {
    for (const text of items()) {
      this.write(this.#hasItems ? ",\n" : "\n");
      this.write(text.trim().replaceAll(/^/gm, INDENT + INDENT));
      this.#hasItems = true;
    }
  }
}
