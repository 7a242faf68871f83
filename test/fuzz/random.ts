/** Random numbers from a seed: the same on every machine. */
export class Random {
  #state: number;

  /** Each `index` of a seed has its own sequence, so that an input can be reproduced without the previous ones. */
  constructor(seed: number, index = 0) {
    this.#state = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(index + 1, 0xc2b2ae35);
  }

  /** Returns an integer from 0 to 2^32 - 1 (the generator "mulberry32"). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (mixed ^ (mixed >>> 14)) >>> 0;
  }

  /** Returns an integer from 0 to `count` - 1; 0 if `count` is 0. */
  below(count: number): number {
    return count === 0 ? 0 : this.next() % count;
  }

  one<T>(choices: readonly [T, ...T[]]): T {
    return choices[this.below(choices.length)] ?? choices[0];
  }
}
