import { Names } from "../names.ts";

/**
 * The variables of one template body during compilation. Names become slots, so that no names are looked up at run
 * time.
 */
export class Frame {
  readonly #names = new Names<number>();
  #size = 0;

  constructor() {
    this.declare("$");
  }

  /** Number of slots that a call needs. */
  get size(): number {
    return this.#size;
  }

  declare(name: string): number {
    this.#names.declare(name, this.#size);
    return this.#size++;
  }

  /** The slot of the innermost variable with a name. */
  find(name: string): number | undefined {
    return this.#names.find(name);
  }

  /** Compiles a block. Variables declared in the block are out of scope after it. */
  scoped<T>(compile: () => T): T {
    const { count } = this.#names;
    const result = compile();
    this.#names.endBlock(count);
    return result;
  }
}
