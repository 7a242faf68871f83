import { isList, isMap, type Value } from "../../base/value.ts";
import { Problem } from "./problem.ts";

/**
 * go-yaml's rule: up to `LOW` nodes, nearly all may come from aliases. From `LOW` to `HIGH`, the allowed share falls to
 * a tenth.
 */
const LOW = 400_000;
const HIGH = 4_000_000;

/**
 * Maximum characters from aliases. Without this limit, a text of a megabyte with an anchor and a thousand aliases would
 * become a gigabyte of JSON.
 */
const MAX_TEXT = 64 * 1024 * 1024;

/** Counts nodes and text, so that aliases cannot expand a few lines to millions of nodes or characters. */
export class AliasBudget {
  #nodes = 0;
  #expanded = 0;
  #text = 0;

  /** Counts a node that is in the text itself. */
  count(): void {
    this.#nodes++;
  }

  /** Counts an alias of a value with `size` nodes. Throws a `Problem` if the budget is exceeded. */
  expand(size: number, value: Value, offset: number): void {
    this.#text += textLength(value);
    if (this.#text > MAX_TEXT) throw new Problem("The aliases of the document expand to too many characters", offset);
    this.#nodes += size;
    this.#expanded += size;
    if (this.#expanded <= 100 || this.#nodes <= 1000) return;
    if (this.#expanded / this.#nodes > allowedShare(this.#nodes)) {
      throw new Problem("The aliases of the document expand to too many nodes", offset);
    }
  }
}

/** The characters of all strings in a value, without keys. */
function textLength(value: Value): number {
  if (typeof value === "string") return value.length;
  if (isList(value)) return value.reduce<number>((sum, item) => sum + textLength(item), 0);
  return isMap(value) ? Object.keys(value).reduce((sum, key) => sum + textLength(value[key] ?? null), 0) : 0;
}

function allowedShare(nodes: number): number {
  if (nodes <= LOW) return 0.99;
  return nodes >= HIGH ? 0.1 : 0.99 - 0.89 * ((nodes - LOW) / (HIGH - LOW));
}
