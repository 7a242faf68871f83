/** An expression as a program for threads.ts, as Go's regexp/syntax compiles it. */
import { CharacterSet } from "./character_set.ts";
import { type Assertion, isNullable, type Node, type RepeatNode } from "./tree.ts";

/** An instruction; `next` and `other` are indices of the program. */
export type Instruction =
  | { readonly op: "character"; readonly set: CharacterSet; readonly next: number }
  | { readonly op: "split"; next: number; other: number }
  | { readonly op: "save"; readonly slot: number; readonly next: number }
  | { readonly op: "assertion"; readonly name: Assertion; readonly next: number }
  | { readonly op: "match" };

/** The instructions, where to start, and how many places they save: start and end of each group and of the whole. */
export interface Program {
  readonly instructions: readonly Instruction[];
  readonly start: number;
  readonly slots: number;
}

/** The program of an expression with `groups` groups. */
export function compileProgram(tree: Node, groups: number): Program {
  const compiler = new Compiler();
  const end = compiler.emit({ op: "save", slot: 1, next: compiler.emit({ op: "match" }) });
  const start = compiler.emit({ op: "save", slot: 0, next: compiler.compile(tree, end) });
  return { instructions: compiler.instructions, start, slots: 2 * groups + 2 };
}

/** Compiles from the end to the start: each node knows what follows it. */
class Compiler {
  readonly instructions: Instruction[] = [];
  readonly #sets = new Map<string, CharacterSet>();

  emit(instruction: Instruction): number {
    return this.instructions.push(instruction) - 1;
  }

  /** Where to enter the code of a node. */
  compile(node: Node, next: number): number {
    switch (node.kind) {
      case "empty":
        return next;
      case "character":
        return this.emit({ op: "character", set: this.#set(node.source), next });
      case "assertion":
        return this.emit({ op: "assertion", name: node.name, next });
      case "capture":
        return this.#capture(node.index, node.body, next);
      case "sequence":
        return node.parts.reduceRight((after, part) => this.compile(part, after), next);
      case "choice":
        return node.options.map((option) => this.compile(option, next)).reduceRight((other, option) =>
          this.emit({ op: "split", next: option, other })
        );
      case "repeat":
        return this.#repeat(node, next);
    }
  }

  #set(source: string): CharacterSet {
    const known = this.#sets.get(source);
    if (known !== undefined) return known;
    const set = new CharacterSet(source);
    this.#sets.set(source, set);
    return set;
  }

  #capture(index: number, body: Node, next: number): number {
    const inside = this.compile(body, this.emit({ op: "save", slot: 2 * index + 1, next }));
    return this.emit({ op: "save", slot: 2 * index, next: inside });
  }

  /** `x{2,4}` is `xx(x(x)?)?`, `x{2,}` is `xx+`. */
  #repeat(node: RepeatNode, next: number): number {
    const { body, min, max } = node;
    if (max === Infinity) {
      return min === 0 ? this.#star(node, next) : this.#times(body, min - 1, this.#plus(node, next));
    }
    let entry = next;
    for (let i = min; i < max; i++) entry = this.#either(node, this.compile(body, entry), next);
    return this.#times(body, min, entry);
  }

  #times(body: Node, count: number, next: number): number {
    let entry = next;
    for (let i = 0; i < count; i++) entry = this.compile(body, entry);
    return entry;
  }

  /** What can be empty is `(x+)?`, so that its alternatives keep their order (golang.org/issue/46123). */
  #star(node: RepeatNode, next: number): number {
    if (isNullable(node.body)) return this.#either(node, this.#plus(node, next), next);
    const [loop] = this.#loop(node, next);
    return loop;
  }

  #plus(node: RepeatNode, next: number): number {
    const [, body] = this.#loop(node, next);
    return body;
  }

  #loop(node: RepeatNode, next: number): [loop: number, body: number] {
    const split: Instruction = { op: "split", next, other: next };
    const loop = this.emit(split);
    const body = this.compile(node.body, loop);
    if (node.lazy) split.other = body;
    else split.next = body;
    return [loop, body];
  }

  #either(node: RepeatNode, inside: number, next: number): number {
    return this.emit({ op: "split", next: node.lazy ? next : inside, other: node.lazy ? inside : next });
  }
}
