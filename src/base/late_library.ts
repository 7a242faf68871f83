/** A library that few runs need: loaded on demand by `import()`, then used by synchronous code. */
export class LateLibrary<T> {
  #library: T | undefined;

  /** `name` appears in the error that `get` throws. */
  constructor(private readonly name: string, private readonly load: () => Promise<T>) {}

  /** Loads the library, once. */
  async loaded(): Promise<T> {
    return this.#library ??= await this.load();
  }

  /** Returns the library. Throws an Error if the library is not loaded yet. */
  get(): T {
    if (this.#library === undefined) throw new Error(`The library ${this.name} is not loaded`);
    return this.#library;
  }
}
