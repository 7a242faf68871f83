/** Declared names and their values. A name hides an outer name with the same text until its block ends. */
export class Names<T> {
  readonly #stack: { readonly name: string; readonly hidden: T | undefined }[] = [];
  /** The innermost value of each name. A search through all names would take quadratic time. */
  readonly #innermost = new Map<string, T>();

  get count(): number {
    return this.#stack.length;
  }

  declare(name: string, value: T): void {
    this.#stack.push({ name, hidden: this.#innermost.get(name) });
    this.#innermost.set(name, value);
  }

  find(name: string): T | undefined {
    return this.#innermost.get(name);
  }

  /** Ends a block: forgets all names except the first `count`, the number of names at the block's start. */
  endBlock(count: number): void {
    while (this.#stack.length > count) {
      const { name = "", hidden } = this.#stack.pop() ?? {};
      if (hidden === undefined) this.#innermost.delete(name);
      else this.#innermost.set(name, hidden);
    }
  }
}
