/** Joins the results of documents to one output. */
import type { DocumentResult } from "./document.ts";

type Text = Required<Pick<DocumentResult, "items">> & { readonly text: string };

/** Gets the results of documents in order. */
export interface Joiner {
  startFile(): void;
  /** `separator` precedes the document in its file. */
  add(separator: string, result: Text): void;
  end(): void;
}

/** A joiner for a format. With `isNew` the texts replace documents, so the separators of the input do not apply. */
export function joinerFor(output: "yaml" | "json", write: (text: string) => void, isNew = false): Joiner {
  return output === "json" ? new JsonJoiner(write) : new YamlJoiner(write, isNew);
}

/** Within a file documents keep their own separators; `---` separates files, and new texts. */
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

/** One document is written as it is, several as the items of a List, as kubectl does: JSON has no separator. */
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
