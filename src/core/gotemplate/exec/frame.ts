/** A variable of a template body: its place in the frame of a call. */
export interface Variable {
  readonly name: string;
  readonly slot: number;
  /** It holds elements of lists and maps, which have no type of their own in error messages. */
  readonly element: boolean;
}

/** The variables of one template body while it is compiled: names become slots, so that none is looked up at run time. */
export class Frame {
  readonly #variables: Variable[] = [{ name: "$", slot: 0, element: false }];
  #size = 1;

  /** How many slots a call needs. */
  get size(): number {
    return this.#size;
  }

  declare(name: string, element = false): number {
    const slot = this.#size++;
    this.#variables.push({ name, slot, element });
    return slot;
  }

  /** The innermost variable of that name. */
  find(name: string): Variable | undefined {
    return this.#variables.findLast((variable) => variable.name === name);
  }

  /** Compiles something at whose end the variables that it declared are gone. */
  scoped<T>(compile: () => T): T {
    const count = this.#variables.length;
    const result = compile();
    this.#variables.length = count;
    return result;
  }
}
