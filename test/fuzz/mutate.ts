/** Generates inputs for readers: seeds with a few, mostly small, changes. */
import { Random } from "./random.ts";

/** The material that inputs are made from. */
export interface Sources {
  readonly seeds: readonly (string | Uint8Array)[];
  /** Words with a meaning for the reader, such as keywords and operators. */
  readonly words: readonly string[];
}

/** The maximum length of an input. `bench/linear/linear.ts` tests large inputs. */
const MAX_BYTES = 64 * 1024;
const MAX_CHANGES = 6;

const encoder = new TextEncoder();

/** Returns the input for a seed and an index. It is always the same. */
export function inputOf({ seeds, words }: Sources, seed: number, index: number): Uint8Array<ArrayBuffer> {
  const random = new Random(seed, index);
  const pick = () => bytesOf(seeds[random.below(seeds.length)] ?? "");
  let bytes = pick();
  // Some inputs are unchanged seeds: valid input must be accepted.
  for (let left = random.below(MAX_CHANGES + 1); left > 0; left--) {
    bytes = random.one(CHANGES)(bytes, random, { word: () => encoder.encode(words[random.below(words.length)]), pick });
  }
  return bytes.slice(0, MAX_BYTES);
}

function bytesOf(seed: string | Uint8Array): Uint8Array<ArrayBuffer> {
  return typeof seed === "string" ? encoder.encode(seed) : new Uint8Array(seed);
}

type Bytes = Uint8Array<ArrayBuffer>;

interface Parts {
  word(): Bytes;
  pick(): Bytes;
}

type Change = (bytes: Bytes, random: Random, parts: Parts) => Bytes;

const INTERESTING: readonly [number, ...number[]] = [
  0,
  1,
  0x0a,
  0x0d,
  0x20,
  0x22,
  0x27,
  0x2d,
  0x3a,
  0x5c,
  0x7f,
  0x80,
  0xc0,
  0xff,
];

const CHANGES: readonly [Change, ...Change[]] = [
  // Changes a bit, or a byte, or inserts a byte with a meaning.
  (bytes, random) => replaced(bytes, random, (byte) => byte ^ (1 << random.below(8))),
  (bytes, random) => replaced(bytes, random, () => random.below(256)),
  (bytes, random) => replaced(bytes, random, () => random.one(INTERESTING)),
  // Removes a part, or repeats it once or many times.
  (bytes, random) => {
    const [from, to] = range(bytes, random);
    return spliced(bytes, from, to);
  },
  (bytes, random) => {
    const [from, to] = range(bytes, random);
    return spliced(bytes, to, to, bytes.slice(from, to));
  },
  (bytes, random) => {
    const [from, to] = range(bytes, random, 16);
    const times = 1 << random.below(10);
    return spliced(bytes, to, to, joined(Array.from({ length: times }, () => bytes.slice(from, to))));
  },
  // Inserts a word, or replaces a part with it.
  (bytes, random, { word }) => {
    const at = random.below(bytes.length + 1);
    return spliced(bytes, at, at, word());
  },
  (bytes, random, { word }) => {
    const [from, to] = range(bytes, random, 8);
    return spliced(bytes, from, to, word());
  },
  // Cuts off the end, or replaces it with the end of another seed.
  (bytes, random) => bytes.slice(0, random.below(bytes.length + 1)),
  (bytes, random, { pick }) => {
    const other = pick();
    return joined([bytes.slice(0, random.below(bytes.length + 1)), other.slice(random.below(other.length + 1))]);
  },
];

function replaced(bytes: Bytes, random: Random, change: (byte: number) => number): Bytes {
  const copy = bytes.slice();
  const at = random.below(copy.length);
  if (copy.length > 0) copy[at] = change(copy[at] ?? 0);
  return copy;
}

/** Returns a random range. Ranges are short, so that most changes are small. */
function range(bytes: Bytes, random: Random, most = 256): [number, number] {
  const from = random.below(bytes.length + 1);
  return [from, Math.min(bytes.length, from + random.below(1 + random.below(most)))];
}

function spliced(bytes: Bytes, from: number, to: number, part: Uint8Array = new Uint8Array(0)): Bytes {
  return joined([bytes.subarray(0, from), part.subarray(0, MAX_BYTES), bytes.subarray(to)]);
}

function joined(parts: readonly Uint8Array[]): Bytes {
  const all = new Uint8Array(Math.min(2 * MAX_BYTES, parts.reduce((sum, { length }) => sum + length, 0)));
  let at = 0;
  for (const part of parts) {
    all.set(part.subarray(0, all.length - at), at);
    at = Math.min(all.length, at + part.length);
  }
  return all;
}
