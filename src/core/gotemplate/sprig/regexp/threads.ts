/**
 * Runs a program in time that grows with the length of the subject times the size of the program, whatever they are: all
 * ways to match go on side by side, character by character, in the order in which Go prefers them (Pike's machine, as
 * Go's regexp has it).
 */
import type { Instruction, Program } from "./program.ts";
import type { Assertion } from "./tree.ts";

/** Where the whole and each group start and end; -1 for a group that took no part. */
export type Places = readonly number[];

/** The first match of a program from `at` on. */
export function runProgram(program: Program, subject: string, at: number): Places | undefined {
  let now = new Threads(program);
  let then = new Threads(program);
  const unset: Places = new Array<number>(program.slots).fill(-1);
  let found: Places | undefined;
  for (let place = at;; place += place < subject.length ? widthAt(subject, place) : 1) {
    if (found === undefined) now.add(program.start, unset, { subject, place });
    if (now.isEmpty && found !== undefined) return found;
    const next = { subject, place: place + widthAt(subject, place) };
    found = now.step(subject.codePointAt(place), then, next) ?? found;
    if (place >= subject.length) return found;
    [now, then] = [then, now];
    then.clear();
  }
}

function widthAt(subject: string, place: number): number {
  return (subject.codePointAt(place) ?? 0) > 0xffff ? 2 : 1;
}

interface Position {
  readonly subject: string;
  readonly place: number;
}

interface Thread {
  readonly at: number;
  readonly places: Places;
}

/** The ways to match that have come to one place, the preferred first, each instruction once. */
class Threads {
  readonly #instructions: readonly Instruction[];
  #waiting: Thread[] = [];
  /** The round in which an instruction was reached last. */
  readonly #reached: Uint32Array;
  #round = 1;

  constructor(program: Program) {
    this.#instructions = program.instructions;
    this.#reached = new Uint32Array(program.instructions.length);
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  clear(): void {
    this.#waiting = [];
    this.#round++;
  }

  /** Follows what needs no character from an instruction on. */
  add(start: number, places: Places, position: Position): void {
    const pending: Thread[] = [{ at: start, places }];
    for (let thread = pending.pop(); thread !== undefined; thread = pending.pop()) {
      if (this.#reached[thread.at] === this.#round) continue;
      this.#reached[thread.at] = this.#round;
      this.#follow(thread, position, pending);
    }
  }

  /** What is put on `pending` last is followed first. */
  #follow(thread: Thread, position: Position, pending: Thread[]): void {
    const { places } = thread;
    const instruction = this.#instructions[thread.at];
    switch (instruction?.op) {
      case "split":
        pending.push({ at: instruction.other, places }, { at: instruction.next, places });
        return;
      case "save":
        pending.push({ at: instruction.next, places: places.with(instruction.slot, position.place) });
        return;
      case "assertion":
        if (HOLDS[instruction.name](position)) pending.push({ at: instruction.next, places });
        return;
      default:
        this.#waiting.push(thread);
    }
  }

  /** Takes a character (`undefined` at the end) with all ways; a match ends those that are less preferred. */
  step(code: number | undefined, then: Threads, next: Position): Places | undefined {
    for (const { at, places } of this.#waiting) {
      const instruction = this.#instructions[at];
      if (instruction?.op === "match") return places;
      if (instruction?.op === "character" && code !== undefined && instruction.set.has(code)) {
        then.add(instruction.next, places, next);
      }
    }
    return undefined;
  }
}

const LINE_END = 10;

const HOLDS: Readonly<Record<Assertion, (position: Position) => boolean>> = {
  start: ({ place }) => place === 0,
  end: ({ subject, place }) => place === subject.length,
  lineStart: ({ subject, place }) => place === 0 || subject.charCodeAt(place - 1) === LINE_END,
  lineEnd: ({ subject, place }) => place === subject.length || subject.charCodeAt(place) === LINE_END,
  wordEdge: (position) => isWordEdge(position),
  noWordEdge: (position) => !isWordEdge(position),
};

function isWordEdge({ subject, place }: Position): boolean {
  return isWord(subject.charAt(place - 1)) !== isWord(subject.charAt(place));
}

function isWord(character: string): boolean {
  return /^[0-9A-Za-z_]$/.test(character);
}
