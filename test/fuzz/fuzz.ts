/** Runs a reader on many inputs, and watches it: a crash, an input that takes too long and memory that grows are defects. */
import { inputOf } from "./mutate.ts";
import { type FuzzReader, readOne } from "./reader.ts";
import { loadReader } from "./readers.ts";
import { shrunk } from "./shrink.ts";
import type { Report, Task } from "./worker.ts";

export interface FuzzOptions {
  readonly seed: number;
  readonly runs: number;
  /** The first index; with the seed it names one input. */
  readonly from?: number;
}

/** What became of a run. */
export interface Outcome {
  readonly runs: number;
  readonly accepted: number;
  /** Milliseconds of the input that took longest. */
  readonly slowest: number;
  /** Bytes of resident memory at most, of the whole process. */
  readonly memory: number;
  readonly defect: Defect | undefined;
}

export interface Defect {
  readonly index: number;
  readonly text: string;
  /** The smallest input found with the same failure; the whole one if it never ends. */
  readonly input: Uint8Array;
}

/** An input of 64 KiB takes milliseconds. This machine may be busy. */
const HANG = 60_000;
const LOOK = 500;
/** Memory of all readers stays below; a leak does not. */
const MAX_MEMORY = 1.5e9;

/** Reads `runs` inputs in a worker. */
export async function fuzz(name: string, { seed, runs, from = 0 }: FuzzOptions): Promise<Outcome> {
  const progress = new SharedArrayBuffer(4);
  const worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
  const watch = watchdog(progress);
  try {
    const report = Promise.withResolvers<Report>();
    worker.onmessage = ({ data }: MessageEvent<Report>) => report.resolve(data);
    worker.onerror = (event) => (event.preventDefault(), report.reject(new Error(event.message)));
    worker.postMessage({ reader: name, seed, from, to: from + runs, progress } satisfies Task);
    const end = await Promise.race([report.promise, watch.failure]);
    const common = { runs, memory: watch.memory() };
    if (end.defect === undefined) return { ...common, ...end, defect: undefined };
    const { index, text } = end.defect;
    const reader = await loadReader(name);
    const whole = inputOf(reader, seed, index);
    const input = "isHang" in end.defect ? whole : await smallest(reader, whole);
    return { ...common, accepted: 0, slowest: 0, defect: { index, text, input } };
  } finally {
    watch.end();
    worker.terminate();
  }
}

interface Watched {
  readonly defect: { readonly index: number; readonly text: string; readonly isHang: true };
}

function watchdog(progress: SharedArrayBuffer) {
  const at = new Int32Array(progress);
  const { promise: failure, resolve } = Promise.withResolvers<Watched>();
  let [index, since, memory] = [-1, performance.now(), 0];
  const timer = setInterval(() => {
    const now = Atomics.load(at, 0);
    if (now !== index) [index, since] = [now, performance.now()];
    memory = Math.max(memory, Deno.memoryUsage().rss);
    const text = performance.now() - since > HANG
      ? `the input takes longer than ${HANG / 1000} s`
      : memory > MAX_MEMORY
      ? `memory grows to ${(memory / 1e6).toFixed(0)} MB`
      : undefined;
    if (text !== undefined) resolve({ defect: { index: now, text, isHang: true } });
  }, LOOK);
  return { failure, memory: () => Math.max(memory, Deno.memoryUsage().rss), end: () => clearInterval(timer) };
}

/** The smallest part of an input with the same kind of failure. */
async function smallest(reader: FuzzReader, input: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const failure = async (bytes: Uint8Array<ArrayBuffer>) => {
    try {
      await readOne(await reader.open(), reader, bytes);
      return undefined;
    } catch (error) {
      return error instanceof Error ? `${error.name}: ${error.message.replaceAll(/\d+|"[^"]*"/g, "")}` : String(error);
    }
  };
  const wanted = await failure(input);
  return wanted === undefined ? input : await shrunk(input, async (bytes) => await failure(bytes) === wanted);
}
