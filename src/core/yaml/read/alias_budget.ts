import { Problem } from "./problem.ts";

/** Up to this many nodes nearly all may come from aliases; up to `HIGH` the share falls to a tenth (go-yaml's rule). */
const LOW = 400_000;
const HIGH = 4_000_000;

/** Counts nodes, so that a document of a few lines cannot expand to millions through aliases. */
export class AliasBudget {
  #nodes = 0;
  #expanded = 0;

  /** A node of the text. */
  count(): void {
    this.#nodes++;
  }

  /** An alias that stands for `size` nodes; throws a `Problem` if that makes too many. */
  expand(size: number, offset: number): void {
    this.#nodes += size;
    this.#expanded += size;
    if (this.#expanded <= 100 || this.#nodes <= 1000) return;
    if (this.#expanded / this.#nodes > allowedShare(this.#nodes)) {
      throw new Problem("The aliases of the document expand to too much", offset);
    }
  }
}

function allowedShare(nodes: number): number {
  if (nodes <= LOW) return 0.99;
  return nodes >= HIGH ? 0.1 : 0.99 - 0.89 * ((nodes - LOW) / (HIGH - LOW));
}
