import { Problem } from "./problem.ts";

/** go-yaml's rule: up to `LOW` nodes nearly all may come from aliases; up to `HIGH` the share falls to a tenth. */
const LOW = 400_000;
const HIGH = 4_000_000;

/** Counts nodes, so that aliases cannot expand a few lines to millions of nodes. */
export class AliasBudget {
  #nodes = 0;
  #expanded = 0;

  /** Counts a node of the text. */
  count(): void {
    this.#nodes++;
  }

  /** Counts an alias of `size` nodes; throws a `Problem` if that is too many. */
  expand(size: number, offset: number): void {
    this.#nodes += size;
    this.#expanded += size;
    if (this.#expanded <= 100 || this.#nodes <= 1000) return;
    if (this.#expanded / this.#nodes > allowedShare(this.#nodes)) {
      throw new Problem("The aliases of the document expand to too many nodes", offset);
    }
  }
}

function allowedShare(nodes: number): number {
  if (nodes <= LOW) return 0.99;
  return nodes >= HIGH ? 0.1 : 0.99 - 0.89 * ((nodes - LOW) / (HIGH - LOW));
}
