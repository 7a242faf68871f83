import { Names } from "../names.ts";

/** A variable of a template body: its slot in the frame of a call. */
export interface Variable {
  readonly slot: number;
  /** It holds elements of lists and maps: error messages give these the type `interface {}`. */
  readonly element: boolean;
}

/** The variables of one template body during compilation. Names become slots: at run time no name is looked up. */
export class Frame {
  readonly #names = new Names<Variable>();
  #size = 0;

  constructor() {
    this.declare("$");
  }

  /** How many slots a call needs. */
  get size(): number {
    return this.#size;
  }

  declare(name: string, element = false): number {
    const slot = this.#size++;
    this.#names.declare(name, { slot, element });
    return slot;
  }

  /** The innermost variable of that name. */
  find(name: string): Variable | undefined {
    return this.#names.find(name);
  }

  /** Compiles a block; the variables that it declares end with it. */
  scoped<T>(compile: () => T): T {
    const { count } = this.#names;
    const result = compile();
    this.#names.endBlock(count);
    return result;
  }
}
