import { Names } from "../names.ts";

/** A variable of a template body: its slot in the frame of a call. */
export interface Variable {
  readonly slot: number;
  /** Whether the variable holds elements of lists or maps. Error messages give elements the type `interface {}`. */
  readonly element: boolean;
}

/**
 * The variables of one template body during compilation. Names become slots, so that no names are looked up at run
 * time.
 */
export class Frame {
  readonly #names = new Names<Variable>();
  #size = 0;

  constructor() {
    this.declare("$");
  }

  /** Number of slots that a call needs. */
  get size(): number {
    return this.#size;
  }

  declare(name: string, element = false): number {
    const slot = this.#size++;
    this.#names.declare(name, { slot, element });
    return slot;
  }

  /** The innermost variable with a name. */
  find(name: string): Variable | undefined {
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
