/** A variable of a template body: its slot in the frame of a call. */
export interface Variable {
  readonly slot: number;
  /** It holds elements of lists and maps: error messages give these the type `interface {}`. */
  readonly element: boolean;
}

/** The variables of a block: for each name its slots, in the order in which they are declared. */
interface Block {
  readonly variables: Map<string, Variable[]>;
  readonly outer: Place | undefined;
}

/** A place in a template body: it sees the variables whose slots were taken before. */
interface Place {
  readonly block: Block;
  readonly slots: number;
}

/** The variables of one template body during compilation. Names become slots: at run time no name is looked up. */
export class Frame {
  #block: Block = { variables: new Map(), outer: undefined };
  #size = 0;

  constructor() {
    this.declare("$");
  }

  /** How many slots a call needs so far. */
  get size(): number {
    return this.#size;
  }

  declare(name: string, element = false): number {
    const slot = this.#size++;
    const { variables } = this.#block;
    const known = variables.get(name);
    if (known === undefined) variables.set(name, [{ slot, element }]);
    else known.push({ slot, element });
    return slot;
  }

  /** The innermost variable of that name. */
  find(name: string): Variable | undefined {
    for (let place: Place | undefined = this.#here(); place !== undefined; place = place.block.outer) {
      const found = latest(place.block.variables.get(name), place.slots);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** Compiles a block; the variables that it declares end with it. */
  scoped<T>(compile: () => T): T {
    return this.later(compile)();
  }

  /** Compiles a block of this place at the call, which may be after the compilation of what follows it. */
  later<T>(compile: () => T): () => T {
    const outer = this.#here();
    return () => {
      const before = this.#block;
      this.#block = { variables: new Map(), outer };
      const result = compile();
      this.#block = before;
      return result;
    };
  }

  #here(): Place {
    return { block: this.#block, slots: this.#size };
  }
}

/** The last variable with a slot below `slots`: a binary search, because a block may declare a name any number of times. */
function latest(variables: readonly Variable[] | undefined, slots: number): Variable | undefined {
  if (variables === undefined) return undefined;
  const last = variables.at(-1);
  if (last !== undefined && last.slot < slots) return last;
  let [low, high] = [0, variables.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((variables[middle]?.slot ?? slots) < slots) low = middle + 1;
    else high = middle;
  }
  return variables[low - 1];
}
